import { Controller, Injectable } from '@nestjs/common';
import { type Charge, type RecordedCharge, encodeCharge, usageRecorded } from '@svc/contracts/messages';
import { NO_MONEY, usdNumber } from '@svc/contracts/money';
import { type EventBatch, OnEvents } from '@svc/events';
import { HoldBook } from '@svc/hold-book';
import { RootLogger } from '@svc/runtime';
import { money, traced } from '@svc/telemetry';
import { chargeFault } from './charge-fault.js';
import { DataRefused, PostingStore } from './posting.store.js';
import { LEDGER_GROUP } from './posting-progress.js';

/** Posts charges to the books and updates the hold book. A repeated charge takes effect once. */
@Injectable()
export class Poster {
  constructor(
    private readonly store: PostingStore,
    private readonly book: HoldBook,
    private readonly logger: RootLogger,
  ) {}

  /** Resolves once every charge is posted, or stored as rejected for manual review. */
  async post(charges: readonly Charge[]): Promise<void> {
    const startMs = performance.now();
    const sound: Charge[] = [];
    for (const charge of charges) {
      const fault = chargeFault(charge);
      if (fault === undefined) sound.push(atMilliseconds(charge));
      else await this.reject(charge, fault);
    }
    const posted = await Promise.allSettled(byAccount(sound).map((group) => this.postSound(group)));
    for (const result of posted) if (result.status === 'rejected') throw result.reason;
    money.postingDuration.record((performance.now() - startMs) / 1_000);
    money.postingSize.record(charges.length);
  }

  /** Ends the hold of a charge that will not be posted. */
  async forget(charge: Charge): Promise<void> {
    await this.book.post([{ ...NO_CHANGE, accountId: charge.accountId, requestIds: [charge.requestId] }]);
  }

  /** Halves a batch that the database rejects, until the faulty charge is alone. */
  private async postSound(charges: readonly Charge[]): Promise<void> {
    try {
      const { accounts, clamped } = await traced('write books', () => this.store.post(charges));
      money.writtenOff.add(usdNumber(clamped.nano), 'posting');
      if (clamped.charges > 0)
        this.logger.log.error(
          { charges: clamped.charges, writtenOffNano: clamped.nano.toString() },
          'charges were written off because they exceed the balance',
        );
      await traced('set balances', () => this.book.post(accounts));
    } catch (error) {
      if (!(error instanceof DataRefused)) throw error;
      const [first] = charges;
      if (charges.length === 1 && first) {
        await this.reject(first, error.message);
        return;
      }
      const half = charges.length >> 1;
      await this.postSound(charges.slice(0, half));
      await this.postSound(charges.slice(half));
    }
  }

  private async reject(charge: Charge, reason: string): Promise<void> {
    this.logger.log.error({ requestId: charge.requestId, reason }, 'a charge cannot be posted');
    money.rejected.add(1);
    await this.store.reject(JSON.stringify(encodeCharge(charge)), reason);
    await this.forget(charge);
  }
}

/** Makes requests cost nothing: blocks charges that are not posted yet, and refunds those that are. */
export abstract class GiveBacks {
  /** Once, however often it is called, and whether or not the charge is posted. */
  abstract post(charge: Charge): Promise<void>;
}

/** Posts recorded charges, and gives back those that are recorded as given back. */
@Controller()
export class ChargesConsumer {
  constructor(
    private readonly poster: Poster,
    private readonly giveBacks: GiveBacks,
  ) {}

  @OnEvents(usageRecorded, LEDGER_GROUP)
  async post(batch: EventBatch<RecordedCharge>): Promise<void> {
    const charges: Charge[] = [];
    for (const { payload } of batch) if (!payload.isGivenBack) charges.push(payload);
    await this.poster.post(charges);
    for (const { payload } of batch) if (payload.isGivenBack) await this.giveBacks.post(payload);
  }
}

/** Groups posted in parallel, each with its own accounts, so that they never wait for each other. */
const GROUPS = 2;
/** A smaller batch is not worth a second commit. */
const SMALL_BATCH = 100;

function byAccount(charges: readonly Charge[]): readonly Charge[][] {
  const groups: Charge[][] = Array.from({ length: charges.length < SMALL_BATCH ? 1 : GROUPS }, () => []);
  for (const charge of charges) groups[lastDigit(charge.accountId) % groups.length]?.push(charge);
  return groups.filter((group) => group.length > 0);
}

const lastDigit = (accountId: string): number => Number.parseInt(accountId.slice(-1), 16);

/** Sets no balance, since every known version is at least as new. It only ends holds. */
const NO_CHANGE = { balances: NO_MONEY, version: -1n };

/**
 * Rounds to the precision of the books, so that PostgreSQL's rounding can't move a time into the next month.
 */
function atMilliseconds(charge: Charge): Charge {
  return charge.at.length === MILLISECONDS_LENGTH
    ? charge
    : { ...charge, at: new Date(charge.at).toISOString() };
}

const MILLISECONDS_LENGTH = '2026-11-21T00:00:00.000Z'.length;
