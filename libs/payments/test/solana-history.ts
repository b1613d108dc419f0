import assert from 'node:assert/strict';
import { type Books, walletAccountId, walletName } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { NodeRefusal } from '@svc/infra';
import type { RunningLedger } from '@svc/ledger/testing';
import fc from 'fast-check';
import type { Commitment } from '../src/solana/solana-chain.js';
import { bookedNano } from './bookings.js';
import { ProcessCrashed } from './crashing.js';
import { PaymentProcess } from './payment-process.js';
import type { PaymentTimes } from './payment-times.js';
import type { SolanaPayer, SolanaHarness } from './solana-harness.js';

const NANO_PER_UNIT = 1_000n;

/** The number of blocks after which a transaction has expired. */
const LATE = 151;

/** Rounds until every payment has ended and a last-moment fork has been seen. */
const ENDING_ROUNDS = 6;

const NODE_STATES = ['up', 'up', 'down', 'blind'] as const;
const RECEPTIONS = ['lands', 'lands', 'held', 'lost'] as const;

/**
 * The possible steps. `at` selects one of two processes, `of` a payer, `which` one of the existing payments.
 */
type Step =
  | { readonly do: 'pay'; readonly at: number; readonly of: number; readonly usd: number }
  | { readonly do: 'again'; readonly at: number; readonly which: number; readonly times: number }
  | { readonly do: 'goOn'; readonly at: readonly number[] }
  | { readonly do: 'kill'; readonly at: number; readonly call: number; readonly isAfter: boolean }
  | { readonly do: 'node'; readonly state: (typeof NODE_STATES)[number] }
  | { readonly do: 'sent'; readonly become: (typeof RECEPTIONS)[number] }
  | { readonly do: 'land' }
  | { readonly do: 'fork'; readonly which: number }
  | { readonly do: 'pass'; readonly blocks: number }
  | { readonly do: 'books'; readonly are: 'there' | 'away' };

export interface SolanaPlan {
  readonly commitment: Commitment;
  readonly steps: readonly Step[];
}

const at = fc.nat(1);
const of = fc.nat(2);
const which = fc.nat(5);
const is = <Name extends string>(name: Name): fc.Arbitrary<Name> => fc.constant(name);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: is('pay'), at, of, usd: fc.integer({ min: 5, max: 50 }) }) },
  { weight: 3, arbitrary: fc.record({ do: is('again'), at, which, times: fc.constantFrom(1, 2, 20) }) },
  { weight: 6, arbitrary: fc.record({ do: is('goOn'), at: fc.constantFrom([0], [1], [0, 1], [0, 0, 1]) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('kill'),
      at,
      call: fc.integer({ min: 1, max: 12 }),
      isAfter: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: is('node'), state: fc.constantFrom(...NODE_STATES) }) },
  { weight: 3, arbitrary: fc.record({ do: is('sent'), become: fc.constantFrom(...RECEPTIONS) }) },
  { weight: 1, arbitrary: fc.record({ do: is('land') }) },
  { weight: 3, arbitrary: fc.record({ do: is('fork'), which }) },
  { weight: 2, arbitrary: fc.record({ do: is('pass'), blocks: fc.constantFrom(10, 40, LATE) }) },
  { weight: 1, arbitrary: fc.record({ do: is('books'), are: fc.constantFrom('there', 'away') }) },
);

export const solanaPlan: fc.Arbitrary<SolanaPlan> = fc.record({
  commitment: fc.constantFrom('confirmed', 'finalized'),
  steps: fc.array(step, { minLength: 5, maxLength: 24, size: 'max' }),
});

interface SignedOffer {
  readonly header: string;
  readonly payer: SolanaPayer;
  readonly usd: number;
  /** The payment's id, if it was stored. */
  id?: string;
}

interface Parts {
  readonly plan: SolanaPlan;
  readonly ledger: RunningLedger;
  readonly harness: SolanaHarness;
  readonly times: PaymentTimes;
  happened(what: string): void;
}

/**
 * One history of payments on Solana: payers, two processes, a faulty node, and forks if blocks are not final.
 */
export class SolanaHistory {
  private readonly offered: SignedOffer[] = [];
  private readonly processes: PaymentProcess[];
  private readonly books: Books;
  private payers: readonly SolanaPayer[] = [];
  private areBooksThere = true;

  constructor(private readonly parts: Parts) {
    this.books = parts.ledger.books;
    this.processes = [this.start(), this.start()];
  }

  async run(): Promise<void> {
    const { plan, harness, times } = this.parts;
    harness.chain.commitment = plan.commitment;
    this.payers = await Promise.all([harness.payer(), harness.payer(), harness.payer()]);
    const before = await harness.chain.balanceOf(harness.payTo);
    for (const each of plan.steps) await this.take(each);
    await this.heal();
    const units = await this.creditedUnits();
    assert.equal(
      (await harness.chain.balanceOf(harness.payTo)) - before,
      units,
      'what is credited has arrived',
    );
    assert.deepEqual((await this.process(0).payments.audit('new')).mismatches, []);
    await times.retire();
  }

  private start(): PaymentProcess {
    const { plan, ledger, harness } = this.parts;
    return new PaymentProcess({
      database: ledger.database,
      books: ledger.books,
      areBooksThere: () => this.areBooksThere,
      railOf: harness.railOf(plan.commitment),
    });
  }

  private process(number: number): PaymentProcess {
    const now = this.processes[number];
    if (now && !now.life.isOver) return now;
    this.parts.happened('a process died');
    const started = this.start();
    this.processes[number] = started;
    return started;
  }

  private async take(each: Step): Promise<void> {
    const { chain } = this.parts.harness;
    switch (each.do) {
      case 'pay':
        return this.pay(each);
      case 'again':
        return this.again(each);
      case 'goOn':
        await this.parts.times.pass(0);
        await Promise.all(each.at.map((number) => this.process(number).goOn()));
        return;
      case 'kill':
        this.process(each.at).life.endAt(each.call, each.isAfter);
        return;
      case 'node':
        this.setNodeState(each.state);
        return;
      case 'sent':
        chain.reception = each.become;
        return;
      case 'land':
        chain.land();
        return;
      case 'fork':
        return this.fork(each.which);
      case 'pass':
        chain.pass(each.blocks);
        await this.parts.times.pass(1);
        return;
      case 'books':
        this.areBooksThere = each.are === 'there';
    }
  }

  private async pay({ at: number, of: payerAt, usd }: Extract<Step, { do: 'pay' }>): Promise<void> {
    const payer = this.payers[payerAt];
    if (!payer) throw new Error('there is such a payer');
    const { chain } = this.parts.harness;
    // The payer's own node works.
    const { interference } = chain;
    chain.interference = () => undefined;
    const offered = { header: await this.parts.harness.headerOf(payer, usd), payer, usd };
    chain.interference = interference;
    this.offered.push(offered);
    await this.send(number, offered);
  }

  private async send(number: number, offered: SignedOffer): Promise<void> {
    try {
      const { state, paymentId } = await this.process(number).payments.topUp(offered.header);
      offered.id = paymentId;
      this.parts.happened(state);
    } catch (error) {
      if (error instanceof ProcessCrashed) return;
      assert(error instanceof Problem, `a refusal, and not ${String(error)}`);
      this.parts.happened(error.code);
      const isGood = ['UNAVAILABLE', 'SETTLEMENT_FAILED', 'PAYMENT_VERIFICATION_FAILED'].includes(error.code);
      assert(isGood, `a good payment is refused with ${error.code}`);
    }
  }

  private async again({ which: picked, at: number, times }: Extract<Step, { do: 'again' }>): Promise<void> {
    const offered = this.pick(picked);
    if (!offered) return;
    if (times === 20) this.parts.happened('twenty at once');
    await Promise.all(Array.from({ length: times }, (_, one) => this.send((number + one) % 2, offered)));
  }

  private setNodeState(state: (typeof NODE_STATES)[number]): void {
    const { chain } = this.parts.harness;
    chain.interference = (method) => {
      if (state === 'down') throw new NodeRefusal(-32_005, 'Node is unhealthy');
      if (state === 'blind' && method === 'getSignatureStatuses')
        return { context: { slot: 1 }, value: [null] };
      return undefined;
    };
  }

  /** Drops the block of a payment. */
  private async fork(picked: number): Promise<void> {
    const offered = this.pick(picked);
    const { harness, plan } = this.parts;
    if (!offered || plan.commitment === 'finalized') return;
    const payment = await this.rowOf(offered);
    if (!payment?.transaction || !harness.chain.ledger.find(payment.transaction)) return;
    this.parts.happened(`a fork of one that is ${payment.state}`);
    harness.chain.ledger.forget(payment.transaction);
  }

  private pick(picked: number): SignedOffer | undefined {
    return this.offered[picked % Math.max(1, this.offered.length)];
  }

  private async rowOf({ id }: SignedOffer) {
    return id === undefined ? undefined : this.parts.times.byId(id);
  }

  /** Restores all dependencies, with new processes, and advances the time until every payment has ended. */
  private async heal(): Promise<void> {
    const { harness, times } = this.parts;
    this.setNodeState('up');
    harness.chain.land();
    this.areBooksThere = true;
    for (const { life } of this.processes) life.end();
    for (let round = 0; round < ENDING_ROUNDS; round += 1) {
      await times.pass(1);
      await Promise.all([this.process(0).goOn(), this.process(1).goOn()]);
      if (round === 1) harness.chain.pass(LATE);
      if (round === 2) harness.chain.commitment = 'finalized';
    }
    assert.equal(await times.underWay(), 0, 'every payment has ended');
  }

  /** Checks that chain, row, books and response agree on each payment. Returns the sum credited. */
  private async creditedUnits(): Promise<bigint> {
    let sum = 0n;
    for (const offered of this.offered) {
      // Also finds the id of a payment stored by a process that died.
      await this.send(0, offered);
      const payment = await this.rowOf(offered);
      if (!payment) continue;
      const landed = this.parts.harness.chain.ledger.find(payment.transaction ?? '');
      const isPaid = landed !== undefined && landed.error === null;
      assert.equal(payment.state, isPaid ? 'CREDITED' : 'FAILED', `of ${payment.id}`);
      const units = isPaid ? payment.authorization.value : 0n;
      assert.equal(await bookedNano(this.books, payment), units * NANO_PER_UNIT, `of ${payment.id}`);
      this.parts.happened(`${payment.state} after ${payment.reversals} reversals`);
      sum += units;
    }
    for (const { address } of this.payers) {
      const { usdNano } = await this.books.balances(walletAccountId(walletName(address)));
      assert(usdNano >= 0n, `a balance is ${usdNano}`);
    }
    return sum;
  }
}
