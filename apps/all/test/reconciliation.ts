import type { Cost } from './response-bodies.js';
import type { Deployment } from './deployment.js';

/** Nano-dollars by currency. The tests' amounts are far below 2^53. */
export interface Nano {
  readonly usd: number;
  readonly diem: number;
}

export const nanoOf = (amount: string | number): number => Math.round(Number(amount) * 1e9);
export const nanoCost = (cost: Cost): Nano => ({ usd: nanoOf(cost.usd), diem: nanoOf(cost.diem) });
const NOTHING: Nano = { usd: 0, diem: 0 };

/** The ledger's reference for the money that it gives back for a refused request. */
const NEVER_CHARGED = 'never charged: ';
const isGivenBack = (reference: string): boolean => reference.startsWith(NEVER_CHARGED);

/** A credit or a refund that the operator requested under a reference. */
export interface OperatorRequest {
  readonly path: 'credits' | 'refunds';
  readonly body: { readonly reference: string; readonly usd?: string; readonly requestId?: string };
  /** Whether the response arrived. Without it the outcome is unknown. */
  isConfirmed: boolean;
}

interface Transfer {
  readonly id: string;
  readonly kind: string;
  readonly debitAccount: string;
  readonly creditAccount: string;
  readonly currency: 'USD' | 'DIEM';
  readonly amount: string;
  readonly reference: string;
  readonly at: string;
}

/** The records of clients and the operator for one account, reconciled with its books. */
export class Reconciliation {
  /** The cost of each finished response. */
  readonly ended = new Map<string, Nano>();
  /** Requests that were refused with a status. */
  readonly refused = new Set<string>();
  /** Requests that were sent, whatever their end. */
  sent = 0;
  readonly operatorRequests = new Map<string, OperatorRequest>();
  /** The cost of each finished response, by key. */
  readonly spentByKey = new Map<string, number>();
  private readonly transfers = new Map<string, Transfer>();
  private newest = 0n;

  constructor(
    readonly accountId: string,
    private readonly deployment: () => Deployment,
  ) {}

  /** Charges in the books so far, except those that were given back because their request was refused. */
  get charges(): Map<string, Nano> {
    const charges = new Map<string, Nano>();
    const transfers = [...this.transfers.values()];
    const givenBack = new Set(transfers.map(({ reference }) => reference).filter(isGivenBack));
    for (const { kind, reference, currency, amount } of transfers) {
      if (kind !== 'charge' || givenBack.has(NEVER_CHARGED + reference)) continue;
      const { usd, diem } = charges.get(reference) ?? NOTHING;
      const nano = nanoOf(amount);
      charges.set(reference, currency === 'USD' ? { usd: usd + nano, diem } : { usd, diem: diem + nano });
    }
    return charges;
  }

  /** Repeats operations with an unknown outcome. */
  async askAgain(): Promise<string[]> {
    const faults: string[] = [];
    for (const [reference, request] of this.operatorRequests) {
      if (request.isConfirmed) continue;
      const { status, body } = await this.deployment().operator(
        'POST',
        `/accounts/${this.accountId}/${request.path}`,
        request.body,
      );
      if (status === 201) request.isConfirmed = true;
      else faults.push(`${reference} asked again is answered ${status} ${JSON.stringify(body)}`);
    }
    return faults;
  }

  /** The differences to the books of this account, while no request is in progress. */
  async faults(): Promise<string[]> {
    const posted = await this.whileAtRest(() => this.readNew());
    return [...this.answerFaults(), ...this.operatorFaults(), ...this.balanceFaults(posted.balances)];
  }

  /** Reads data and the matching balances; after a start a day's DIEM may be granted in between. */
  async whileAtRest<Result>(read: () => Promise<Result>): Promise<{ balances: Nano; result: Result }> {
    for (;;) {
      const before = await this.balances();
      const result = await read();
      const balances = await this.balances();
      if (before.usd === balances.usd && before.diem === balances.diem) return { balances, result };
    }
  }

  /** Reads the whole history again, which must still contain everything that was read before. */
  async historyFaults(): Promise<string[]> {
    const before = new Map(this.transfers);
    this.transfers.clear();
    this.newest = 0n;
    await this.readNew();
    const changed = [...before].filter(
      ([id, transfer]) => JSON.stringify(this.transfers.get(id)) !== JSON.stringify(transfer),
    );
    const faults = changed.map(([id]) => `transfer ${id} has changed or is gone`);
    // Newer transfers, such as a grant, must have a cause as well.
    return [...faults, ...(await this.faults())];
  }

  private async balances(): Promise<Nano> {
    const { usd, diem } = await this.deployment().balances(this.accountId);
    return { usd: nanoOf(usd), diem: nanoOf(diem) };
  }

  private answerFaults(): string[] {
    const faults: string[] = [];
    const { charges } = this;
    for (const [requestId, cost] of this.ended) {
      const charged = charges.get(requestId) ?? NOTHING;
      if (charged.usd !== cost.usd || charged.diem !== cost.diem)
        faults.push(`${requestId} reported a cost of ${show(cost)} and is charged ${show(charged)}`);
    }
    for (const requestId of this.refused)
      if (charges.has(requestId)) faults.push(`${requestId} was refused and is charged`);
    const unseen = this.sent - this.ended.size - this.refused.size;
    const unasked = [...charges.keys()].filter((requestId) => !this.ended.has(requestId)).length;
    if (unasked > unseen) faults.push(`${unasked} charges of ${unseen} requests whose end nobody saw`);
    return faults;
  }

  /** Each transfer except grants and expiries has a cause, and each cause has its transfers once. */
  private operatorFaults(): string[] {
    const faults: string[] = [];
    const counts = new Map<string, number>();
    for (const { kind, currency, reference, at } of this.transfers.values()) {
      // A day is granted only once, however the stake changes.
      const once = kind === 'grant' || kind === 'expiry' ? at.slice(0, 10) : reference;
      const name = `${kind} in ${currency} for ${once}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      // A stream can be refused in its last event.
      const isKnown = isGivenBack(reference) && !this.ended.has(reference.slice(NEVER_CHARGED.length));
      if ((kind === 'credit' || kind === 'refund') && !this.operatorRequests.has(reference) && !isKnown)
        faults.push(`nobody asked for the ${name}`);
    }
    for (const [name, count] of counts) if (count > 1) faults.push(`there are ${count} transfers: ${name}`);
    for (const [reference, { path, body, isConfirmed }] of this.operatorRequests) {
      const given = [...this.transfers.values()].filter(
        (transfer) => transfer.reference === reference && `${transfer.kind}s` === path,
      );
      if (isConfirmed && given.length === 0) faults.push(`${reference} was promised and is not in the books`);
      if (path === 'credits' && given.some(({ amount }) => nanoOf(amount) !== nanoOf(body.usd ?? 0)))
        faults.push(`${reference} is another amount than ${body.usd}`);
    }
    return faults;
  }

  private balanceFaults(posted: Nano): string[] {
    const faults: string[] = [];
    if (posted.usd < 0 || posted.diem < 0) faults.push(`the balance is ${show(posted)}`);
    const customer = `customer:${this.accountId}`;
    const sum = (currency: string): number =>
      [...this.transfers.values()]
        .filter((transfer) => transfer.currency === currency)
        .reduce((total, { creditAccount, debitAccount, amount }) => {
          if (creditAccount === customer) return total + nanoOf(amount);
          return debitAccount === customer ? total - nanoOf(amount) : total;
        }, 0);
    const moved: Nano = { usd: sum('USD'), diem: sum('DIEM') };
    if (moved.usd !== posted.usd || moved.diem !== posted.diem)
      faults.push(`the balance is ${show(posted)} and its transfers sum to ${show(moved)}`);
    return faults;
  }

  private async readNew(): Promise<void> {
    const known = this.newest;
    for (let before = ''; ;) {
      const { body } = await this.deployment().operator(
        'GET',
        `/accounts/${this.accountId}/transfers?limit=1000${before}`,
      );
      const { data: page, nextBefore } = body as { data: Transfer[]; nextBefore: string | null };
      for (const transfer of page) {
        const id = BigInt(transfer.id);
        if (id <= known) return;
        if (id > this.newest) this.newest = id;
        this.transfers.set(transfer.id, transfer);
      }
      if (nextBefore === null) return;
      before = `&before=${nextBefore}`;
    }
  }
}

export const show = ({ usd, diem }: Nano): string => `${usd} nano-USD and ${diem} nano-DIEM`;
