import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Charge } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import { within } from '@svc/runtime';
import { money } from '@svc/telemetry';
import { ChargeJournal } from './charge-journal.js';
import { type PostingAttempt, DirectPosting } from './direct-posting.js';
import { NeverCharged, RefusalNote } from './never-charged.js';
import { SettlementTime } from './settlement-time.js';

/**
 * Fallbacks for a charge that the event log did not take: it is posted directly, or else written to the
 * journal and posted as soon as the books take it, possibly by a later run. If both fail, it is never
 * charged.
 */
@Injectable()
export class SettlementFallback implements OnModuleInit {
  /** Charges that are durable but not posted yet. */
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

  /** The time budget of a settlement that started at this moment of `performance`. */
  time(startMs: number): SettlementTime {
    return new SettlementTime(startMs, this.direct.waitMs);
  }

  /** Resolves once the charge is durable. Rejects with UNAVAILABLE; it is then never charged. */
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

  /** Resolves when everything durable before the call is posted. */
  async drained(): Promise<void> {
    await Promise.all(this.unposted);
  }

  private async isPosted({ posted }: PostingAttempt, time: SettlementTime): Promise<boolean> {
    // If the books are failing, there is no point in waiting for them while the journal is available.
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
      // The caller was already refused, so a late entry is not needed.
      void kept.then(
        () => this.journal.done(1),
        () => undefined,
      );
      throw error;
    }
  }

  private postLater({ posted }: PostingAttempt): void {
    const known = posted.then(() => this.journal.done(1));
    this.unposted.add(known);
    // When the process ends, the journal keeps the charge for the next run.
    known.then(
      () => this.unposted.delete(known),
      () => undefined,
    );
  }

  private async refusal(charge: Charge, time: SettlementTime, cause: unknown): Promise<Problem> {
    money.settlements.add(1, 'refused');
    const note = new RefusalNote(this.journal, charge);
    // The journal writes the refusal before the client sees it, if it can. Otherwise the refusal is lost if
    // this process dies before either the journal or the books have it.
    await within(time.forRefusal, note.keep()).catch(() => undefined);
    void this.never.add(charge, note);
    return new Problem('UNAVAILABLE', { cause });
  }
}
