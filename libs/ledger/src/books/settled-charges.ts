import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { type Refund, type Reversal, totalNano } from '@svc/contracts';
import type { Credited } from './transfers.store.js';
import { RefundsStore, type Refunded } from './refunds.store.js';
import { ReversalsStore } from './reversals.store.js';
import { PostingProgress } from '../posting/posting-progress.js';

/** The charges of requests that are settled, whether they are posted yet or not. */
@Injectable()
export class SettledCharges {
  constructor(
    private readonly store: RefundsStore,
    private readonly reversals: ReversalsStore,
    private readonly progress: PostingProgress,
  ) {}

  /** Gives back what a request cost, or a part of it. Refuses as the store does, and UNAVAILABLE. */
  async refund(refund: Refund): Promise<Refunded> {
    assert(!refund.amount || totalNano(refund.amount) > 0n, 'a refund is above zero');
    await this.progress.beforeRead();
    return this.store.refund(refund);
  }

  /** Takes a deposit back, after all that was spent of it. Refuses as the store does, and UNAVAILABLE. */
  async reverse(reversal: Reversal): Promise<Credited> {
    await this.progress.beforeRead();
    return this.reversals.reverse(reversal);
  }
}
