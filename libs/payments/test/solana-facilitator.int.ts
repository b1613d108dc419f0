import { randomBytes } from 'node:crypto';
import { base58 } from '@scure/base';
import { SOLANA_NETWORK } from '@svc/contracts/money';
import { LocalSolana, NodeRefusal } from '@svc/infra';
import { type RunningLedger, startLedger } from '@svc/ledger/testing';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { solanaFacilitator } from '../src/rails/solana.js';
import type { Payment } from '../src/records/payment.store.js';
import { PaymentStore } from '../src/records/payment.store.js';
import { openSolanaRail } from '../src/solana/solana-rail.js';
import { decodeWire } from '../src/solana/transfer-wire.js';
import { bookedNano } from './bookings.js';
import { FaultyFacilitator } from './faulty-facilitator.js';
import { PaymentProcess } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';
import { type SolanaPayer, SolanaHarness } from './solana-harness.js';

const fault = await LocalSolana.fault();
if (fault !== undefined) process.emitWarning(`Facilitators on Solana are not tested. ${fault}`);

const nameless = (): string => base58.encode(randomBytes(64));

const PRICE_NANO = 5_000_000_000n;

let database: TestDatabase;
let ledger: RunningLedger;
let harness: SolanaHarness;
let facilitator: FaultyFacilitator;
let times: PaymentTimes;
let service: PaymentProcess;

/** A facilitator's settlement: it co-signs the payment and sends it. */
function settle(payload: unknown): Promise<string> {
  const { transaction } = payload as { transaction: string };
  const transfer = decodeWire(transaction);
  if (!transfer) throw new Error('it is asked to settle a transaction');
  return Promise.resolve(harness.chain.ledger.execute(harness.feePayer.cosign(transfer).wire));
}

/** A service that learns the fee payer only from its facilitator. */
async function started(url: string): Promise<PaymentProcess> {
  const options = { rpcUrl: harness.chain.url, payTo: harness.payTo, commitment: 'finalized' } as const;
  const submitter = solanaFacilitator(url);
  const rail = await openSolanaRail(
    'solana',
    { ...options, maxFeeLamports: 100_000, submitter },
    new PaymentStore(ledger.database),
  );
  return new PaymentProcess({
    database: ledger.database,
    books: ledger.books,
    areBooksThere: () => true,
    railOf: () => rail,
  });
}

beforeAll(async () => {
  if (fault !== undefined) return;
  database = await startTestDatabase();
  ledger = await startLedger({ url: database.url });
  harness = await SolanaHarness.start();
  facilitator = await FaultyFacilitator.start({
    settle,
    lie: () => base58.encode(new Uint8Array(64).fill(7)),
    kinds: [
      { x402Version: 2, scheme: 'exact', network: 'eip155:8453' },
      {
        x402Version: 2,
        scheme: 'exact',
        network: SOLANA_NETWORK,
        extra: { feePayer: harness.feePayer.address },
      },
    ],
  });
  times = new PaymentTimes(ledger.database);
  service = await started(facilitator.url);
});
afterAll(async () => {
  await facilitator?.stop();
  harness?.stop();
  await ledger?.stop();
  await database?.stop();
});
afterEach(() => {
  if (facilitator) facilitator.state = 'works';
  if (harness) harness.chain.interference = () => undefined;
});

interface Sent {
  readonly payer: SolanaPayer;
  readonly header: string;
}

async function signed(): Promise<Sent> {
  const payer = await harness.payer();
  return { payer, header: await harness.headerOf(payer, 5) };
}

const paid = ({ header }: Sent) => service.payments.topUp(header);

async function rowOf(sent: Sent): Promise<Payment> {
  const { paymentId } = await paid(sent);
  const payment = await times.byId(paymentId);
  if (!payment) throw new Error('a payment is kept');
  return payment;
}

async function goOn(): Promise<void> {
  await times.pass(1);
  await service.goOn();
}

/** Adds this many later transactions to the payer's history. */
function followed(count: number): void {
  const { chain } = harness;
  const slot = Number(chain.ledger.slot);
  const later = Array.from({ length: count }, () => ({ signature: nameless(), slot }));
  chain.interference = (method, [of, options]) => {
    if (method !== 'getSignaturesForAddress') return undefined;
    const { limit, before } = options as { limit: number; before?: string };
    const own = chain.ledger.transactionsOf(String(of)).map((each) => ({ ...each, slot: Number(each.slot) }));
    const all = [...later, ...own].map(({ signature, slot: at }) => ({ signature, slot: at }));
    const first = before === undefined ? 0 : all.findIndex(({ signature }) => signature === before) + 1;
    return all.slice(first, first + limit);
  };
}

/** A node that fails for this method, or for it with these parameters. */
const refusing =
  (refused: string, of = '') =>
  (method: string, params: readonly unknown[]): undefined => {
    if (method === refused && JSON.stringify(params).includes(of)) throw new NodeRefusal(-32_005, 'no');
  };

/** What response, books, chain and audit report about a payment. */
async function reportOf(sent: Sent): Promise<object> {
  const outcome = await paid(sent);
  const { ok } = await service.payments.audit('whole');
  return {
    state: outcome.state,
    bookedNano: await bookedNano(ledger.books, await rowOf(sent)),
    leftUnits: await harness.chain.balanceOf(sent.payer.address),
    isProved: ok,
  };
}

const CREDITED_ONCE = {
  state: 'credited',
  bookedNano: PRICE_NANO,
  leftUnits: 4_995_000_000n,
  isProved: true,
};

describe.skipIf(fault !== undefined)('a facilitator on Solana', () => {
  it('is offered to buyers as the fee payer', async () => {
    expect(await service.payments.rails()).toMatchObject([
      { network: SOLANA_NETWORK, payTo: harness.payTo, extra: { feePayer: harness.feePayer.address } },
    ]);
  });

  it('that settles leads to one credit', async () => {
    const sent = await signed();
    await paid(sent);
    await goOn();
    expect(await reportOf(sent)).toEqual(CREDITED_ONCE);
  });

  it('that falsely claims a settlement is not trusted: the payment fails once it has expired', async () => {
    facilitator.state = 'lies';
    const sent = await signed();
    expect(await paid(sent)).toMatchObject({ state: 'open' });
    facilitator.state = 'works';
    await goOn();
    expect(await rowOf(sent)).toMatchObject({ state: 'BROADCAST' });
    harness.chain.pass(151);
    await goOn();
    await expect(paid(sent)).rejects.toMatchObject({ code: 'SETTLEMENT_FAILED' });
    expect(await harness.chain.balanceOf(sent.payer.address)).toBe(5_000_000_000n);
  });

  it.each(['denies', 'hangs'] as const)('that settles and %s is not trusted either', async (state) => {
    facilitator.state = state;
    const sent = await signed();
    await paid(sent);
    await goOn();
    expect(await reportOf(sent)).toEqual(CREDITED_ONCE);
  });

  it('that is down is called again', async () => {
    const sent = await signed();
    facilitator.state = 'down';
    expect(await paid(sent)).toMatchObject({ state: 'open' });
    await goOn();
    expect(await rowOf(sent)).toMatchObject({ state: 'SETTLING' });
    facilitator.state = 'works';
    await goOn();
    await goOn();
    expect(await reportOf(sent)).toEqual(CREDITED_ONCE);
  });

  it('is not needed for a payment that someone else submits', async () => {
    const sent = await signed();
    const content = JSON.parse(Buffer.from(sent.header, 'base64').toString()) as { payload: unknown };
    facilitator.state = 'down';
    await paid(sent);
    await settle(content.payload);
    await goOn();
    expect(await reportOf(sent)).toEqual(CREDITED_ONCE);
  });

  it('that names no transaction is not needed, even if the payer has many newer transactions', async () => {
    facilitator.state = 'denies';
    const sent = await signed();
    await paid(sent);
    followed(1_200);
    await goOn();
    expect(await reportOf(sent)).toEqual(CREDITED_ONCE);
  });

  it('that names the transaction makes the search unnecessary', async () => {
    const sent = await signed();
    await paid(sent);
    harness.chain.interference = refusing('getSignaturesForAddress');
    await goOn();
    expect(await reportOf(sent)).toEqual(CREDITED_ONCE);
  });

  it('that names no transaction is not needed if the operator names it', async () => {
    facilitator.state = 'denies';
    const sent = await signed();
    await paid(sent);
    const [landed] = harness.chain.ledger.transactionsOf(sent.payer.address);
    harness.chain.interference = refusing('getSignaturesForAddress');
    const { id, state } = await rowOf(sent);
    expect(state).toBe('SETTLING');
    const { signature: transaction = '' } = landed ?? {};
    await times.pass(1);
    await service.payments.resolve(id, { decision: 'credit', transaction, reason: 'found by hand' });
    expect(await reportOf(sent)).toEqual(CREDITED_ONCE);
  });

  it('that names no transaction fails no payment while there are too many transactions to search', async () => {
    facilitator.state = 'down';
    const sent = await signed();
    await paid(sent);
    harness.chain.pass(151);
    followed(500);
    await goOn();
    expect(await rowOf(sent)).toMatchObject({ state: 'SETTLING' });
    harness.chain.interference = () => undefined;
    await goOn();
    await expect(paid(sent)).rejects.toMatchObject({ code: 'SETTLEMENT_FAILED' });
  });

  it('that never returned a fee payer disables Solana, and nothing is stored', async () => {
    facilitator.state = 'down';
    const sent = await signed();
    const { payments } = await started(facilitator.url);
    await expect(payments.rails()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(payments.topUp(sent.header)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    facilitator.state = 'works';
    expect(await payments.rails()).toHaveLength(1);
    expect(await payments.list({ limit: 100, wallet: sent.payer.address })).toEqual([]);
  });
});

describe.skipIf(fault !== undefined)('the audit of payments on Solana', () => {
  it('reports a payment that the node fails for, and continues with the others', async () => {
    const [one, other] = [await signed(), await signed()];
    for (const sent of [one, other]) await paid(sent);
    await goOn();
    const before = await service.payments.audit('whole');
    expect(before).toMatchObject({ ok: true });
    const { id, transaction = '' } = await rowOf(one);
    harness.chain.interference = refusing('getSignatureStatuses', transaction);
    const report = await service.payments.audit('whole');
    expect(report.mismatches).toEqual([expect.stringContaining(id)]);
    expect(report.rails[0]?.payments).toBe(before.rails[0]?.payments);
    expect(report.rails[0]?.onChainNano).toBe((before.rails[0]?.onChainNano ?? 0n) - PRICE_NANO);
  });

  it('proves nothing if the node is down', async () => {
    harness.chain.interference = () => {
      throw new NodeRefusal(-32_005, 'no');
    };
    await expect(service.payments.audit('whole')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
