import assert from 'node:assert/strict';
import { type Books, Charges, type PaymentOutcome, walletAccountId, walletName } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { type RunningLedger, chargeOf } from '@svc/ledger/testing';
import type { Authorization } from '../src/header/payment-header.js';
import { bookedNano } from './bookings.js';
import type { Fault, Plan, Step } from './history-steps.js';
import { ProcessCrashed } from './crashing.js';
import { PaymentProcess, testRail } from './payment-process.js';
import type { PaymentTimes } from './payment-times.js';
import { type SignedOffer, UNITS_PER_USD, headerOf, offerOf } from './offers.js';
import { BLOCK_SECONDS, FORGED, type TestChain, useOf } from './test-chain.js';
import { randomHex } from './simulated-chain.js';

const NANO_PER_UNIT = 1_000n;
const MINUTE_BLOCKS = Number(60n / BLOCK_SECONDS);

/** Minutes until authorizations expire, a margin for the chain's clock, and steps after it. */
const ENDING_MINUTES = [1, 1, 1, 9, 1, 1, 1, 1, 1];

const REFUSALS: Readonly<Record<Fault, readonly string[]>> = {
  'too low': ['AMOUNT_TOO_LOW'],
  'too high': ['AMOUNT_TOO_HIGH'],
  asset: ['UNSUPPORTED_TOKEN'],
  receiver: ['INVALID_PAYMENT_RECIPIENT'],
  network: ['UNSUPPORTED_NETWORK'],
  scheme: ['UNSUPPORTED_SCHEME'],
  text: ['INVALID_PAYMENT_FORMAT'],
  signature: ['PAYMENT_VERIFICATION_FAILED'],
  expired: ['PAYMENT_VERIFICATION_FAILED'],
};

export interface HistoryParts {
  readonly plan: Plan;
  readonly ledger: RunningLedger;
  readonly chain: TestChain;
  readonly times: PaymentTimes;
  happened(what: string): void;
}

/** One history: payers, their signed payments, two processes, and the outcome. */
export class PaymentHistory {
  private payers: readonly Authorization['from'][] = [];
  private readonly offered: SignedOffer[] = [];
  private readonly refused: Authorization[] = [];
  private readonly canceled = new Set<string>();
  private readonly processes: PaymentProcess[];
  private readonly books: Books;
  private areBooksThere = true;

  constructor(private readonly parts: HistoryParts) {
    this.books = parts.ledger.books;
    this.processes = [this.start(0), this.start(1)];
  }

  async run(): Promise<void> {
    const { chain, plan } = this.parts;
    this.payers = await chain.payers();
    for (const step of plan.steps) await this.take(step);
    await this.heal();
    await this.check();
    await chain.clear();
    await chain.mine(MINUTE_BLOCKS);
    await this.parts.times.retire();
  }

  /** The process with this number, restarted if it has died. */
  private process(at: number): PaymentProcess {
    const now = this.processes[at];
    if (now && !now.life.isOver) return now;
    if (now) this.parts.happened('a process died');
    const started = this.start(at);
    this.processes[at] = started;
    return started;
  }

  private start(at: number): PaymentProcess {
    const { plan, ledger, chain } = this.parts;
    return new PaymentProcess({
      database: ledger.database,
      books: ledger.books,
      areBooksThere: () => this.areBooksThere,
      railOf: testRail(chain, plan, at),
    });
  }

  private async take(step: Step): Promise<void> {
    const { chain } = this.parts;
    switch (step.do) {
      case 'pay':
        return this.pay(step.at, await this.sign(step.of, step.usd));
      case 'faulty':
        return this.payFaulty(step.at, await this.sign(step.of, 5), step.fault);
      case 'again':
        return this.again(step.which, step.at, step.times);
      case 'mine':
        return chain.mine(step.blocks);
      case 'reorg':
        return chain.reorg(step.depth, step.how);
      case 'pass':
        return this.pass(step.minutes);
      case 'goOn':
        await this.parts.times.pass(0);
        await Promise.all(step.at.map((at) => this.process(at).goOn()));
        return;
      case 'retry':
        return this.retry(step.at, step.which);
      case 'node':
        this.process(step.at);
        return chain.setNodeState(step.at, step.state);
      case 'facilitator':
        chain.setFacilitatorState(step.state);
        return;
      case 'books':
        this.areBooksThere = step.are === 'there';
        return;
      case 'kill':
        this.process(step.at).life.endAt(step.call, step.isAfter);
        return;
      case 'others':
        return this.others(step.which, step.how);
      case 'spend':
        return this.spend(step.of);
    }
  }

  private sign(of: number, usd: number): Promise<SignedOffer> {
    return offerOf(this.parts.chain, this.payers[of] ?? '0x', usd);
  }

  private async pay(at: number, offered: SignedOffer): Promise<void> {
    this.offered.push(offered);
    await this.send(at, offered);
  }

  /** The client's result; undefined if the process has died or a dependency is down. */
  private async send(
    at: number,
    { header, authorization }: SignedOffer,
  ): Promise<PaymentOutcome | undefined> {
    try {
      const outcome = await this.process(at).payments.topUp(header);
      if (outcome.state === 'credited')
        assert.equal(outcome.usdNano, authorization.value * NANO_PER_UNIT, 'the outcome names what was paid');
      return outcome;
    } catch (error) {
      if (error instanceof ProcessCrashed) return undefined;
      assert(error instanceof Problem, `a refusal, and not ${String(error)}`);
      this.parts.happened(error.code);
      assert(
        ['UNAVAILABLE', 'SETTLEMENT_FAILED', 'PAYMENT_VERIFICATION_FAILED'].includes(error.code),
        `a good payment is refused with ${error.code}`,
      );
      return undefined;
    }
  }

  private async payFaulty(at: number, good: SignedOffer, fault: Fault): Promise<void> {
    const { authorization, header } = await this.faulty(good.authorization, fault);
    this.refused.push(authorization);
    const outcome = await this.process(at)
      .payments.topUp(header)
      .then(
        () => 'taken',
        (error: unknown) => {
          if (error instanceof ProcessCrashed) return 'UNAVAILABLE';
          return error instanceof Problem ? error.code : String(error);
        },
      );
    const isAway = outcome === 'UNAVAILABLE';
    // A node that is behind does not know that it has expired, and the process that accepted it may have died
    // since.
    if (fault === 'expired' && (outcome === 'taken' || isAway))
      return void this.offered.push({ authorization, header });
    assert(isAway || REFUSALS[fault].includes(outcome), `a payment with a wrong ${fault} is ${outcome}`);
    this.parts.happened(outcome);
  }

  private async faulty(good: Authorization, fault: Fault): Promise<SignedOffer> {
    const { chain } = this.parts;
    const of = (authorization: Authorization): SignedOffer => ({
      authorization,
      header: headerOf(authorization),
    });
    const ofOther = (terms: object): SignedOffer => ({ authorization: good, header: headerOf(good, terms) });
    switch (fault) {
      case 'too low':
        return of({ ...good, value: 5n * UNITS_PER_USD - 1n });
      case 'too high':
        return of({ ...good, value: 10_000n * UNITS_PER_USD + 1n });
      case 'receiver':
        return of({ ...good, to: randomHex(20) });
      case 'signature':
        return of({ ...good, signature: `${FORGED}${'1'.repeat(127)}` });
      case 'expired': {
        const { signature: _signature, ...unsigned } = good;
        return of(await chain.sign({ ...unsigned, validBefore: await chain.time() }));
      }
      case 'asset':
        return ofOther({ asset: randomHex(20) });
      case 'network':
        return ofOther({ network: 'eip155:1' });
      case 'scheme':
        return ofOther({ scheme: 'upto' });
      case 'text':
        return { authorization: good, header: headerOf(good).slice(4, -9) };
    }
  }

  private async again(which: number, at: number, times: number): Promise<void> {
    const offered = this.pick(which);
    if (!offered) return;
    if (times === 20) this.parts.happened('twenty at once');
    await Promise.all(Array.from({ length: times }, (_, number) => this.send((at + number) % 2, offered)));
  }

  private async pass(minutes: number): Promise<void> {
    await this.parts.chain.mine(minutes * MINUTE_BLOCKS);
    await this.parts.times.pass(minutes);
  }

  private async retry(at: number, which: number): Promise<void> {
    const offered = this.pick(which);
    const payment = offered && (await this.parts.times.payment(offered.authorization));
    if (!payment) return;
    await this.process(at)
      .payments.retry(payment.id)
      .catch((error: unknown) => {
        const isAway =
          error instanceof ProcessCrashed || (error instanceof Problem && error.code === 'UNAVAILABLE');
        assert(isAway, String(error));
      });
  }

  private async others(which: number, how: 'settle' | 'cancel'): Promise<void> {
    const offered = this.pick(which);
    if (!offered) return;
    const { authorization } = offered;
    if (how === 'cancel') this.canceled.add(useOf(authorization));
    await this.parts.chain.use(authorization, how);
    this.parts.happened(`others ${how}`);
  }

  /** Spends a wallet's whole balance, so that a reversed credit leaves a debt. */
  private async spend(of: number): Promise<void> {
    const accountId = accountOf(this.payers[of] ?? '');
    const { usdNano } = await this.books.balances(accountId);
    if (usdNano <= 0n) return;
    const charges = this.parts.ledger.app.get(Charges, { strict: false });
    await charges.post([chargeOf(accountId, usdNano)]);
    this.parts.happened('spent');
  }

  private pick(which: number): SignedOffer | undefined {
    return this.offered[which % Math.max(1, this.offered.length)];
  }

  /** Restores all dependencies, with new processes, and advances the time until every payment has ended. */
  private async heal(): Promise<void> {
    this.parts.chain.setFacilitatorState('works');
    this.areBooksThere = true;
    for (const process of this.processes) process.life.end();
    for (const minutes of ENDING_MINUTES) {
      await this.pass(minutes);
      await Promise.all([this.process(0).goOn(), this.process(1).goOn()]);
      if ((await this.parts.times.underWay()) === 0) break;
    }
    // By then, a last-moment reorg has been seen.
    await this.parts.times.pass(1);
    await this.process(0).goOn();
    assert.equal(await this.parts.times.underWay(), 0, 'every payment has ended');
  }

  private async check(): Promise<void> {
    const { payments } = this.process(0);
    for (const authorization of this.refused) {
      if (this.offered.some((offered) => offered.authorization === authorization)) continue;
      assert.equal(await this.parts.times.payment(authorization), undefined, 'a refusal leaves no row');
    }
    const report = await payments.audit('new');
    const uncredited = new Set<string>();
    for (const offered of this.offered) {
      const left = await this.ended(offered);
      if (left !== undefined) uncredited.add(left);
    }
    for (const transaction of uncredited)
      assert(
        [...report.unclaimed, ...report.mismatches].some((sentence) => sentence.includes(transaction)),
        `the audit names ${transaction}`,
      );
    const names = [...uncredited];
    const others = report.mismatches.filter((sentence) => !names.some((name) => sentence.includes(name)));
    assert.deepEqual(others, []);
    for (const payer of this.payers) {
      const { usdNano } = await this.books.balances(accountOf(payer));
      assert(usdNano >= 0n, `a balance is ${usdNano}`);
    }
  }

  /**
   * Checks that chain, row, books and response agree on a payment. Returns the transaction of one that
   * arrived without being credited.
   */
  private async ended({ header, authorization }: SignedOffer): Promise<string | undefined> {
    const { chain, times } = this.parts;
    const used = await chain.used(authorization);
    const paid = used && !used.isCancel ? used.hash : undefined;
    const payment = await times.payment(authorization);
    if (!payment) return paid;
    const isLate = payment.state === 'FAILED' && paid !== undefined;
    if (isLate) {
      // Its cancellation had enough confirmations, but was replaced anyway.
      assert(this.canceled.has(useOf(authorization)), `${payment.id} has failed, and the chain has it`);
      this.parts.happened('paid after a cancellation');
      await this.process(0).payments.retry(payment.id);
    }
    const now = isLate ? await times.payment(authorization) : payment;
    assert.equal(now?.state, paid === undefined ? 'FAILED' : 'CREDITED', `of ${payment.id}`);
    const units = paid === undefined ? 0n : authorization.value;
    assert.equal(await bookedNano(this.books, now), units * NANO_PER_UNIT, `of ${payment.id}`);
    if (now.reversals > 0) this.parts.happened(units > 0n ? 'credited again' : 'reversed permanently');
    const outcome = await this.process(1)
      .payments.topUp(header)
      .then(
        ({ state }) => state as string,
        (error: unknown) => (error as Problem).code,
      );
    assert.equal(outcome, paid === undefined ? 'SETTLEMENT_FAILED' : 'credited', `of ${payment.id}`);
    this.parts.happened(outcome);
    return isLate ? paid : undefined;
  }
}

const accountOf = (payer: string): string => walletAccountId(walletName(payer));
