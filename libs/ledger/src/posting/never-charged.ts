import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type Charge, encodeCharge } from '@svc/contracts/messages';
import { Charges } from '@svc/contracts/ports';
import { RootLogger, retrying } from '@svc/runtime';
import type { ChargeJournal } from './charge-journal.js';

const MOST = 10_000;
const DELAYS = { firstMs: 100, lastMs: 2_000 };

/**
 * Requests refused because their charge could not be recorded anywhere. A copy of the charge may still turn
 * up: in the event log that did not respond, or in a posting under way. So the request is given back, which
 * blocks any charge, or refunds a copy that was quicker. Until then the journal keeps the refusal for the
 * next run, as soon as it accepts it.
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

  /** Tries until the books have given it back. Never rejects. */
  async add(charge: Charge, note: RefusalNote): Promise<void> {
    this.size += 1;
    const { signal } = this.stopping;
    const attempt = async (): Promise<void> => {
      signal.throwIfAborted();
      void note.keep();
      if (this.size > MOST) throw new Error('too many');
      await this.books.giveBack(charge);
    };
    try {
      await retrying(attempt, { ...DELAYS, signal, isFinal: () => this.size > MOST });
      await note.done();
    } catch {
      void note.keep();
      this.logger.log.error(
        { charge: encodeCharge(charge) },
        'the request failed, but the books do not record yet that it must not be charged',
      );
    } finally {
      this.size -= 1;
    }
  }
}

/** The journal entry of a request that is never charged. */
export class RefusalNote {
  private kept: Promise<boolean> | undefined;

  constructor(
    private readonly journal: ChargeJournal,
    private readonly charge: Charge,
  ) {}

  /** A note written by an earlier run. */
  static found(journal: ChargeJournal, charge: Charge): RefusalNote {
    const note = new RefusalNote(journal, charge);
    note.kept = Promise.resolve(true);
    return note;
  }

  /** Writes the note, unless that is done or under way. Returns whether it is written. Never rejects. */
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

  /** Releases the journal entry. */
  async done(): Promise<void> {
    if (await this.kept) this.journal.done(1);
  }
}
