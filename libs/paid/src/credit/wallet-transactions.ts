import { Injectable } from '@nestjs/common';
import { Books, type Transfer, type TransferKind, UsageHistory, type UsagePlace } from '@svc/contracts/ports';
import type { WalletTransaction } from '@svc/api/wallets';
import { usdNumber } from '@svc/contracts/money';

/** Transfers per read. */
const PAGE = 500;

/** Usage entries per read, and the most reads: a page has at most 100 charges with a few entries each. */
const ENTRIES = 500;
const ENTRY_READS = 4;

/** Attempts to read balance and history without a charge in between. */
const TRIES = 5;

interface TransactionRange {
  readonly limit: number;
  readonly offset: number;
}

interface TransactionPage {
  readonly balanceNano: bigint;
  readonly transactions: readonly WalletTransaction[];
  readonly hasMore: boolean;
}

const TYPES: Readonly<Record<TransferKind, WalletTransaction['type']>> = {
  credit: 'TOP_UP',
  deposit: 'TOP_UP',
  grant: 'TOP_UP',
  charge: 'CHARGE',
  expiry: 'CHARGE',
  write_off: 'CHARGE',
  refund: 'REFUND',
  reversal: 'CHARGE',
  debt: 'REFUND',
  repayment: 'CHARGE',
  debit: 'CHARGE',
  credit_reversal: 'CHARGE',
};

/** The history of an account in dollars, newest first, with the balance after each transaction. */
@Injectable()
export class WalletHistory {
  constructor(
    private readonly books: Books,
    private readonly usage: UsageHistory,
  ) {}

  /** Refuses: UNAVAILABLE, REQUEST_TIMEOUT. */
  async read(accountId: string, wanted: TransactionRange): Promise<TransactionPage> {
    const found = await this.steady(accountId, wanted);
    const models = await this.models(accountId, found.transactions);
    const transactions = found.transactions.map((transaction) => ({
      ...transaction,
      modelId: models.get(transaction.requestId ?? '') ?? null,
    }));
    return { ...found, transactions };
  }

  private async steady(accountId: string, wanted: TransactionRange): Promise<TransactionPage> {
    for (let attempt = 1; ; attempt += 1) {
      const { usdNano } = await this.books.balances(accountId);
      const found = await this.from(accountId, usdNano, wanted);
      if (attempt === TRIES || (await this.books.balances(accountId)).usdNano === usdNano) return found;
    }
  }

  private async from(
    accountId: string,
    balanceNano: bigint,
    { limit, offset }: TransactionRange,
  ): Promise<TransactionPage> {
    const transactions: WalletTransaction[] = [];
    let afterNano = balanceNano;
    let left = offset;
    for await (const transfer of this.transfers(accountId)) {
      const changeNano = changeOf(transfer, accountId);
      if (changeNano === 0n) continue;
      if (transactions.length === limit) return { balanceNano, transactions, hasMore: true };
      if (left > 0) left -= 1;
      else transactions.push(viewOf(transfer, changeNano, afterNano));
      afterNano -= changeNano;
    }
    return { balanceNano, transactions, hasMore: false };
  }

  /**
   * The models of the requests charged on a page. A charge appears in the usage with the time of its
   * transfer.
   */
  private async models(
    accountId: string,
    transactions: readonly WalletTransaction[],
  ): Promise<ReadonlyMap<string, string>> {
    const models = new Map<string, string>();
    const charges = transactions.filter(({ requestId }) => requestId !== null);
    if (charges.length === 0) return models;
    const times = charges.map(({ createdAt }) => Date.parse(createdAt));
    const span = { from: new Date(Math.min(...times)), until: new Date(Math.max(...times) + 1) };
    let after: UsagePlace | undefined;
    for (let reads = 0; reads < ENTRY_READS; reads += 1) {
      const step = { limit: ENTRIES, ...(after && { after }) };
      const { entries, next } = await this.usage.walk({ accountId, ...span }, step);
      for (const { requestId, model } of entries) models.set(requestId, model);
      if (!next) break;
      after = next;
    }
    return models;
  }

  private async *transfers(accountId: string): AsyncGenerator<Transfer> {
    let before: bigint | undefined;
    for (;;) {
      const page = await this.books.transfers(accountId, {
        limit: PAGE,
        ...(before !== undefined && { before }),
      });
      yield* page;
      before = page.at(-1)?.id;
      if (page.length < PAGE) return;
    }
  }
}

/** The change of an account's dollar balance by a transfer. */
function changeOf(
  { currency, creditAccount, debitAccount, amountNano }: Transfer,
  accountId: string,
): bigint {
  if (currency !== 'USD') return 0n;
  const own = `customer:${accountId}`;
  if (creditAccount === own) return amountNano;
  return debitAccount === own ? -amountNano : 0n;
}

function viewOf(
  { id, kind, at, reference }: Transfer,
  changeNano: bigint,
  afterNano: bigint,
): WalletTransaction {
  return {
    id: String(id),
    amount: usdNumber(changeNano),
    balanceAfter: usdNumber(afterNano),
    type: TYPES[kind],
    createdAt: at.toISOString(),
    requestId: kind === 'charge' ? reference : null,
    modelId: null,
  };
}
