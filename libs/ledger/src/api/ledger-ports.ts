import { ACCOUNTING_WIRE, type Accounting } from '@svc/contracts/accounting';
import {
  BOOKS_WIRE,
  type Books,
  CHARGES_WIRE,
  type Charges,
  HOLDS_WIRE,
  type Holds,
  USAGE_HISTORY_WIRE,
  type UsageHistory,
} from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { InternalClient, PortClient } from '@svc/runtime';

export interface LedgerAddress {
  /** The URL of the ledger, without a path; separate several replicas by commas. */
  readonly url: string;
  readonly token: string;
  /** Deadline of a call that reads or changes little. */
  readonly waitMs: number;
}

/** The server applies its own deadlines to reads. */
const READ_MS = 20_000;
/** Batches of stakes run one after another. */
const STAKE_MS = 60_000;
/** Auditing a million charges takes 30 s; the sums of a month take less. */
const AUDIT_MS = 1_800_000;

/** Client of the ledger in another process. Repeating a call has no further effect, except for an audit. */
export class LedgerPorts {
  readonly holds: Holds;
  readonly charges: Charges;
  readonly accounting: Accounting;
  readonly books: Books;
  readonly history: UsageHistory;
  private readonly client: InternalClient;

  constructor({ url, token, waitMs }: LedgerAddress) {
    this.client = new InternalClient({ url, token });
    const { client } = this;
    const alone = { deadlineMs: READ_MS, alone: true };
    this.holds = new PortClient<Holds>(client, HOLDS_WIRE, {
      path: routes.callHolds.path,
      deadlineMs: waitMs,
      patient: ['settle'],
    }).port;
    this.charges = new PortClient<Charges>(client, CHARGES_WIRE, {
      ...alone,
      path: routes.callCharges.path,
      deadlineMs: waitMs,
    }).port;
    this.books = new PortClient<Books>(client, BOOKS_WIRE, {
      ...alone,
      path: routes.callBooks.path,
      slowMs: { setStake: STAKE_MS, audit: AUDIT_MS },
      once: ['audit'],
    }).port;
    this.accounting = new PortClient<Accounting>(client, ACCOUNTING_WIRE, {
      ...alone,
      path: routes.callAccounting.path,
      slowMs: { month: AUDIT_MS },
    }).port;
    this.history = new PortClient<UsageHistory>(client, USAGE_HISTORY_WIRE, {
      ...alone,
      path: routes.callUsageHistory.path,
    }).port;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}
