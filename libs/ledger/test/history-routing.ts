import assert from 'node:assert/strict';
import type { Balances } from '@svc/contracts/money';
import type { Hold, OpenHold } from '@svc/contracts/ports';
import { type AccountPosting, HoldBook } from '@svc/hold-book';
import { Died } from './history-crashes.store.js';
import type { History } from './history.js';

/** A message about a posting waits for its step, arrives, or finds its process dead. */
type Arrival = 'waits' | 'arrives' | 'died';

/** Routes to the hold books of many histories, by account. */
export class RoutingBook extends HoldBook {
  constructor(
    private readonly histories: ReadonlyMap<string, History>,
    private readonly arrival: Arrival,
  ) {
    super();
  }

  override async post(postings: readonly AccountPosting[]): Promise<void> {
    if (this.arrival === 'died') throw new Died('after the commit');
    for (const posting of postings) {
      const history = this.historyOf(posting.accountId);
      if (this.arrival === 'arrives') await history.process.book.post([posting]);
      else history.tell(posting);
    }
  }

  override holdRest(accountId: string, requestId: string): Promise<bigint> {
    return this.historyOf(accountId).holdRest(accountId, requestId);
  }

  override release(hold: Hold): Promise<void> | undefined {
    return this.historyOf(hold.accountId).process.book.release(hold);
  }

  override hold(): Promise<Hold> {
    assert.fail('requests hold in the book of their history');
  }

  override extend(): Promise<Hold> {
    assert.fail('requests extend in the book of their history');
  }

  override settle(): Promise<void> {
    assert.fail('requests settle in the book of their history');
  }

  override renew(): Promise<void> {
    assert.fail('requests renew in the book of their history');
  }

  override available(): Promise<Balances> {
    assert.fail('looks go to the book of their history');
  }

  override open(): Promise<readonly OpenHold[]> {
    assert.fail('no history reads the open holds');
  }

  private historyOf(accountId: string): History {
    const history = this.histories.get(accountId);
    assert(history, `account ${accountId} belongs to a history`);
    return history;
  }
}
