import { Injectable } from '@nestjs/common';
import { type AccountChange, HoldBook } from '@svc/hold-book';
import { RootLogger, within } from '@svc/runtime';
import { LedgerSettings } from '../ledger.config.js';

/** Accounts processed at once: more would take the connections from requests. */
const LANES = 4;

const holdId = (accountId: string, day: string): string => `stake:${accountId}:${day}`;

/** DIEM set aside in the hold book while the books reset it. */
@Injectable()
export class DiemHolds {
  /** Deadline for setting DIEM aside: meanwhile every request of these accounts waits. */
  protected readonly takeMs: number = 5_000;

  constructor(
    private readonly book: HoldBook,
    private readonly settings: LedgerSettings,
    private readonly logger: RootLogger,
  ) {}

  /** How long the DIEM set aside may be relied on. */
  get holdsForMs(): number {
    return this.settings.config.LEDGER_HOLD_LEASE_MS / 2;
  }

  /**
   * Sets aside the DIEM that no request holds, and returns how much. Omits accounts that could not be done in
   * time.
   */
  async take(day: string, accountIds: readonly string[]): Promise<Map<string, bigint>> {
    const aside = new Map<string, bigint>();
    const waiting = accountIds.values();
    let isOver = false;
    const lane = async (): Promise<void> => {
      for (const accountId of waiting) {
        if (isOver) return;
        const nano = await this.takeOne(accountId, day);
        if (nano === undefined) continue;
        if (isOver) await this.giveBack(day, new Map([[accountId, nano]]));
        else aside.set(accountId, nano);
      }
    };
    try {
      await within(this.takeMs, Promise.all(Array.from({ length: LANES }, lane)));
    } catch (error) {
      this.logger.log.warn({ error: String(error) }, 'reserving DIEM for the daily reset took too long');
    }
    isOver = true;
    return aside;
  }

  /** Sets the new balances of accounts, and ends what was set aside for them. */
  async post(day: string, accounts: readonly AccountChange[]): Promise<void> {
    await this.book.post(
      accounts.map((account) => ({ ...account, requestIds: [holdId(account.accountId, day)] })),
    );
  }

  /** Returns what was set aside. Never rejects: what can't be returned lapses. */
  async giveBack(day: string, aside: ReadonlyMap<string, bigint>): Promise<void> {
    for (const [accountId, diemNano] of aside) {
      const amount = { usdNano: 0n, diemNano };
      try {
        await this.book.release({
          requestId: holdId(accountId, day),
          accountId,
          keyId: '',
          amount,
          before: amount,
        });
      } catch (error) {
        this.logger.log.warn(
          { accountId, error: String(error) },
          'the DIEM of an account stays reserved until its hold expires',
        );
      }
    }
  }

  private async takeOne(accountId: string, day: string): Promise<bigint | undefined> {
    try {
      return await this.book.holdRest(accountId, holdId(accountId, day));
    } catch (error) {
      this.logger.log.warn(
        { accountId, error: String(error) },
        'the DIEM of an account could not be reserved',
      );
      return undefined;
    }
  }
}
