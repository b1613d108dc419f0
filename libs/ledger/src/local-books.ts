import { Injectable } from '@nestjs/common';
import {
  type AuditReport,
  type AuditScope,
  type Balances,
  Books,
  type Credit,
  type DepositsWanted,
  type Page,
  type PostedCharge,
  type Refund,
  type Reversal,
  type Stake,
  type Transfer,
} from '@svc/contracts';
import { Adjustments } from './books/adjustments.js';
import { SettledBooks } from './books/settled-books.js';
import { Staking } from './staking/staking.js';

/** The books within their own process. */
@Injectable()
export class LocalBooks extends Books {
  constructor(
    private readonly settled: SettledBooks,
    private readonly adjustments: Adjustments,
    private readonly staking: Staking,
  ) {
    super();
  }

  override balances(accountId: string): Promise<Balances> {
    return this.settled.balances(accountId);
  }

  override credit(credit: Credit): Promise<Transfer> {
    return this.adjustments.credit(credit);
  }

  override reverse(reversal: Reversal): Promise<Transfer> {
    return this.adjustments.reverse(reversal);
  }

  override deposits(wanted: DepositsWanted): Promise<readonly Transfer[]> {
    return this.settled.deposits(wanted);
  }

  override refund(refund: Refund): Promise<readonly Transfer[]> {
    return this.adjustments.refund(refund);
  }

  override charge(requestId: string): Promise<PostedCharge> {
    return this.settled.charge(requestId);
  }

  override stake(accountId: string): Promise<Stake> {
    return this.staking.stake(accountId);
  }

  override setStake(accountId: string, tokensNano: bigint): Promise<Stake> {
    return this.staking.setStake(accountId, tokensNano);
  }

  override transfers(accountId: string, page: Page): Promise<readonly Transfer[]> {
    return this.settled.transfers(accountId, page);
  }

  override audit(scope: AuditScope): Promise<AuditReport> {
    return this.settled.audit(scope);
  }
}
