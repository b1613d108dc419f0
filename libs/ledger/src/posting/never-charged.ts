import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type Charge, Charges, Problem, encodeCharge } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import type { ChargeJournal } from './charge-journal.js';

const MOST = 10_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2_000;

/**
 * Requests whose client was refused because no way took their charge. A copy of it may still come to light: in the event
 * log that did not answer, or in a posting that was under way. So a charge of nothing is posted under the request's id,
 * which no other charge can then have; where a copy was quicker, what it cost is given back. Until then the journal keeps it
 * for the next run, as soon as it takes it.
 */
@Injectable()
export class NeverCharged implements OnModuleDestroy {
  private size = 0;
  private readonly stopping = new AbortController();

  constructor(
    private readonly books: Charges,
    private readonly logger: RootLogger,
  ) {}

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /** Tries until the books know it. Never rejects. */
  async add(charge: Charge, note: RefusalNote): Promise<void> {
    this.size += 1;
    try {
      let retryMs = FIRST_RETRY_MS;
      while (this.size <= MOST && !this.stopping.signal.aborted) {
        void note.keep();
        if (await this.tell(charge)) return await note.done();
        await sleep(retryMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
      }
      void note.keep();
      this.logger.log.error(
        { charge: encodeCharge(charge) },
        'the books do not know yet that this is never charged',
      );
    } finally {
      this.size -= 1;
    }
  }

  private async tell(charge: Charge): Promise<boolean> {
    const nothing: Charge = { ...charge, lines: [], cost: { usdNano: 0n, diemNano: 0n }, writeOffNano: 0n };
    try {
      await this.books.post([nothing]);
      await this.books.giveBack(charge);
    } catch (error) {
      // A charge of nothing has nothing to be given back.
      return error instanceof Problem && error.status < 500;
    }
    this.logger.log.warn({ requestId: charge.requestId }, 'what a refused request cost was given back');
    return true;
  }
}

/** What the journal keeps of a request that is never charged. */
export class RefusalNote {
  private kept: Promise<boolean> | undefined;

  constructor(
    private readonly journal: ChargeJournal,
    private readonly charge: Charge,
  ) {}

  /** One that an earlier run has written. */
  static found(journal: ChargeJournal, charge: Charge): RefusalNote {
    const note = new RefusalNote(journal, charge);
    note.kept = Promise.resolve(true);
    return note;
  }

  /** Writes it, unless it is written or under way, and says whether it is. Never rejects. */
  keep(): Promise<boolean> {
    this.kept ??= this.journal.append({ kind: 'never', charge: this.charge }).then(
      () => true,
      () => {
        this.kept = undefined;
        return false;
      },
    );
    return this.kept;
  }

  /** It is needed no more. */
  async done(): Promise<void> {
    if (await this.kept) this.journal.done(1);
  }
}
