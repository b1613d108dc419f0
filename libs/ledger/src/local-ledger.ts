import { Injectable } from '@nestjs/common';
import type { Balances } from '@svc/contracts/money';
import type { Charge } from '@svc/contracts/messages';
import { type Extension, type Hold, type HoldRequest, Holds, Ledger } from '@svc/contracts/ports';
import { EarlierCharges } from './posting/earlier-charges.js';
import { Settlement } from './posting/settlement.js';

/**
 * The ledger of a process that settles: it uses the hold book wherever that is, and makes charges durable
 * itself.
 */
@Injectable()
export class LocalLedger extends Ledger {
  constructor(
    private readonly earlier: EarlierCharges,
    private readonly book: Holds,
    private readonly settlement: Settlement,
  ) {
    super();
  }

  override hold(request: HoldRequest): Hold | Promise<Hold> {
    if (this.earlier.arePosted) return this.book.hold(request);
    return this.earlier.posted().then(() => this.book.hold(request));
  }

  override async available(accountId: string): Promise<Balances> {
    if (!this.earlier.arePosted) await this.earlier.posted();
    return this.book.available(accountId);
  }

  override extend(hold: Hold, extension: Extension): Promise<Hold> {
    return this.book.extend(hold, extension);
  }

  override renew(holds: readonly Hold[]): Promise<void> {
    return this.book.renew(holds);
  }

  override settle(hold: Hold, charge: Charge): Promise<void> {
    return this.settlement.settle(hold, charge);
  }

  override release(hold: Hold): Promise<void> | undefined {
    return this.book.release(hold);
  }
}
