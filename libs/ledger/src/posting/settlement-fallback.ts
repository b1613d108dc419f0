import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Charge, Problem } from '@svc/contracts';
import { within } from '@svc/runtime';
import { money } from '@svc/telemetry';
import { ChargeJournal } from './charge-journal.js';
import { type Attempt, DirectPosting } from './direct-posting.js';
import { NeverCharged, RefusalNote } from './never-charged.js';
import { SettlementTime } from './settlement-time.js';

/**
 * The ways of a charge that the event log did not take: into the books at once, or else into the journal, from which it
 * is posted as soon as the books take it, also by a later run. What none of them takes is never charged.
 */
@Injectable()
export class SettlementFallback implements OnModuleInit {
  /** Charges that are durable and not posted yet. */
  private readonly unposted = new Set<Promise<void>>();

  constructor(
    private readonly direct: DirectPosting,
    private readonly journal: ChargeJournal,
    private readonly never: NeverCharged,
  ) {}

  onModuleInit(): void {
    const entries = this.journal.earlier;
    const refused = new Set(
      entries.flatMap(({ kind, charge }) => (kind === 'never' ? [charge.requestId] : [])),
    );
    for (const { kind, charge } of entries) {
      if (kind === 'never') void this.never.add(charge, RefusalNote.found(this.journal, charge));
      else if (refused.has(charge.requestId)) this.journal.done(1);
      else this.postLater(this.direct.begin(charge));
    }
  }

  /** The time of a settlement that begins now. */
  time(): SettlementTime {
    return new SettlementTime(this.direct.waitMs);
  }

  /** Resolves once the charge is durable. Refuses with UNAVAILABLE, and it is then never charged. */
  async take(charge: Charge, time: SettlementTime): Promise<void> {
    if (this.direct.isFull)
      throw await this.refusal(charge, time, new Error('too many charges wait to be posted'));
    const attempt = this.direct.begin(charge);
    if (await this.isPosted(attempt, time)) return money.settlements.add(1, 'direct');
    try {
      await this.keep(charge, time);
    } catch (error) {
      this.direct.withdraw(attempt);
      throw await this.refusal(charge, time, error);
    }
    money.settlements.add(1, 'journal');
    this.postLater(attempt);
  }

  /** Resolves when all that was durable at the time of the call is posted. */
  async drained(): Promise<void> {
    await Promise.all(this.unposted);
  }

  private async isPosted({ posted }: Attempt, time: SettlementTime): Promise<boolean> {
    // There is no point in waiting for books that take nothing, where another way is left.
    if (this.direct.isFailing && this.journal.isThere) return false;
    return within(time.forPosting, posted).then(
      () => true,
      () => false,
    );
  }

  private async keep(charge: Charge, time: SettlementTime): Promise<void> {
    const kept = this.journal.append({ kind: 'charge', charge });
    try {
      await within(time.forJournal, kept);
    } catch (error) {
      // An entry that is late is one that nobody waits for.
      void kept.then(
        () => this.journal.done(1),
        () => undefined,
      );
      throw error;
    }
  }

  private postLater({ posted }: Attempt): void {
    const known = posted.then(() => this.journal.done(1));
    this.unposted.add(known);
    // As the process ends, the journal keeps it for the next run.
    known.then(
      () => this.unposted.delete(known),
      () => undefined,
    );
  }

  private async refusal(charge: Charge, time: SettlementTime, cause: unknown): Promise<Problem> {
    money.settlements.add(1, 'refused');
    const note = new RefusalNote(this.journal, charge);
    // Where the journal takes it, it does before the client is told. Otherwise this process has to live until either knows.
    await within(time.forRefusal, note.keep()).catch(() => undefined);
    void this.never.add(charge, note);
    return new Problem('UNAVAILABLE', { cause });
  }
}
