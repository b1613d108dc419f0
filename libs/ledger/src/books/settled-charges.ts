import assert from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { type Refund, type Reversal, totalNano } from '@svc/contracts';
import type { Credited } from './transfers.store.js';
import { RefundsStore, type Refunded } from './refunds.store.js';
import { ReversalsStore } from './reversals.store.js';
import { PostingProgress } from '../posting/posting-progress.js';

/** Refunds and reversals, for settled charges whether they are posted yet or not. */
@Injectable()
export class SettledCharges {
  constructor(
    private readonly store: RefundsStore,
    private readonly reversals: ReversalsStore,
    private readonly progress: PostingProgress,
  ) {}

  /** Refunds what a request cost, or part of it. Rejects as the store does, and with UNAVAILABLE. */
  async refund(refund: Refund): Promise<Refunded> {
    assert(!refund.amount || totalNano(refund.amount) > 0n, 'a refund is above zero');
    await this.progress.beforeRead();
    return this.store.refund(refund);
  }

  /**
   * Reverses a deposit, after everything spent of it was posted. Rejects as the store does, and with
   * UNAVAILABLE.
   */
  async reverse(reversal: Reversal): Promise<Credited> {
    await this.progress.beforeRead();
    return this.reversals.reverse(reversal);
  }
}
