import { LocalChain } from '@svc/infra';
import { isNightly } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Buyer, balanceOf, buyer, pay, paymentOf, sellerOn, topUpUrl } from '../buyers.js';
import { OPERATOR_TOKEN, Platform } from '../platform.js';
import { RpcProxy } from '../rpc-proxy.js';
import { submit } from '../wallet-payments.js';

let chain: LocalChain;
let proxy: RpcProxy;
let platform: Platform;

beforeAll(async () => {
  chain = await LocalChain.start();
  proxy = await RpcProxy.start(chain.url);
  const { env } = await sellerOn(chain, proxy);
  platform = await Platform.start({
    env: { ...env, X402_EVM_REPLACE_MS: '2000', X402_LEASE_MS: '5000', X402_SETTLE_WAIT_MS: '1500' },
  });
});
afterAll(async () => {
  await platform?.stop();
  await proxy?.stop();
  await chain?.stop();
});
beforeEach(async () => {
  await chain.call('evm_setAutomine', [true]);
});

const WITHIN = { timeout: 50_000 };

async function send(header: string): Promise<number> {
  const response = await pay(platform, header);
  await response.text();
  return response.status;
}

/** Retries until it is credited. */
const sent = (header: string) => expect.poll(() => send(header), WITHIN).toBe(200);

const headerOf = (one: Buyer): Promise<string> => paymentOf(one, topUpUrl(platform));

async function paymentBy({ wallet }: Buyer): Promise<Record<string, unknown>> {
  const { body } = await platform.operator('GET', `/payments?wallet=${wallet.address}`);
  return (body['data'] as Record<string, unknown>[])[0] ?? {};
}

async function kindsOf(one: Buyer): Promise<unknown[]> {
  const { accountId } = await paymentBy(one);
  await platform.operator('POST', '/accounts', { name: 'buyer', wallet: one.wallet.address });
  const { body } = await platform.operator('GET', `/accounts/${String(accountId)}/transfers`);
  return (body['data'] as { kind: string }[]).map(({ kind }) => kind).toReversed();
}

async function proved(): Promise<void> {
  const { body } = await platform.operator('GET', '/payments/audit');
  expect(body).toMatchObject({ ok: true, mismatches: [] });
  expect((await platform.audit()).body).toMatchObject({ ok: true });
}

/** The value of a series, as returned to Prometheus. */
async function scraped(series: string): Promise<number> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const text = await (await fetch(new URL('/metrics', platform.operatorUrl), { headers })).text();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.slice(series.length));
}

/** Reverts everything after a snapshot, and replaces it by other blocks. */
async function replaced(snapshot: string, depth: number): Promise<void> {
  await chain.call('evm_setAutomine', [false]);
  await chain.call('evm_revert', [snapshot]);
  for (let block = 0; block < depth; block += 1) await chain.call('evm_mine', []);
}

describe('a payment whose block is replaced', () => {
  it.each(isNightly ? [1, 2, 3] : [2])(
    'loses its credit, what was spent becomes a debt, and it is credited again, once (%i deep)',
    async (depth) => {
      const one = await buyer(chain, 10);
      const reversed = 'svc_payments_reversed_total{svc_payments_rail="base"}';
      const before = await scraped(reversed);
      const snapshot = String(await chain.call('evm_snapshot', []));
      const header = await headerOf(one);
      await sent(header);
      for (let block = 1; block < depth; block += 1) await chain.call('evm_mine', []);
      expect(await balanceOf(platform, one)).toBe(5);
      await replaced(snapshot, depth);
      await expect.poll(() => balanceOf(platform, one), WITHIN).toBe(0);
      await expect.poll(() => paymentBy(one), WITHIN).toMatchObject({ state: 'REVERSED', reversals: 1 });
      expect(await scraped(reversed)).toBe(before + 1);
      expect(await send(header)).toBe(409);
      expect(await balanceOf(platform, one)).toBe(0);
      await chain.call('evm_setAutomine', [true]);
      await chain.call('evm_mine', []);
      await expect.poll(() => balanceOf(platform, one), WITHIN).toBe(5);
      await sent(header);
      expect(await kindsOf(one)).toEqual(['deposit', 'reversal', 'deposit']);
      expect(await platform.log()).toContain('a credited payment has disappeared from its chain');
      await proved();
    },
  );

  it('is not reversed because one node is behind', async () => {
    const one = await buyer(chain, 10);
    await sent(await headerOf(one));
    const { id } = await paymentBy(one);
    await proxy.whileBehind(3, async () => {
      for (let look = 0; look < 3; look += 1)
        expect(await platform.operator('POST', `/payments/${String(id)}/retry`)).toMatchObject({
          status: 200,
        });
    });
    expect(await paymentBy(one)).toMatchObject({ state: 'CREDITED', reversals: 0 });
    expect(await balanceOf(platform, one)).toBe(5);
  });
});

describe('the audit of payments', () => {
  it('reports its proofs, faults and failed runs as metrics', async () => {
    await sent(await headerOf(await buyer(chain, 10)));
    const runs = (result: string): Promise<number> =>
      scraped(`svc_payments_audit_runs_total{svc_audit_scope="whole",svc_audit_result="${result}"}`);
    const at = (result: string): Promise<number> =>
      scraped(`svc_payments_audit_${result}_time_seconds{svc_audit_scope="whole"}`);
    const [proofs, wrong, failed] = [await runs('proved'), await runs('wrong'), await runs('failed')];
    await proxy.whileForgetful(async () => {
      expect((await platform.operator('GET', '/payments/audit')).body).toMatchObject({ ok: false });
    });
    expect(await runs('wrong')).toBe(wrong + 1);
    const wrongAt = await at('wrong');
    expect(Math.abs(Date.now() / 1_000 - wrongAt)).toBeLessThan(60);
    proxy.mood = 'down';
    expect((await platform.operator('GET', '/payments/audit')).status).toBe(503);
    proxy.mood = 'well';
    expect(await runs('failed')).toBe(failed + 1);
    await proved();
    expect(await runs('proved')).toBe(proofs + 1);
    expect(await at('proved')).toBeGreaterThan(wrongAt);
    expect(await at('wrong')).toBe(wrongAt);
  });
});

const UNKNOWN = 'svc_payments_open{svc_payments_rail="base",svc_payments_state="UNKNOWN"}';

/** A payment settled by a third party, whose transaction the node does not show. */
async function undecided(one: Buyer): Promise<{ id: unknown; transaction: string }> {
  const header = await headerOf(one);
  await chain.call('evm_setAutomine', [false]);
  expect(await send(header)).toBe(409);
  await chain.call('anvil_dropAllTransactions', []);
  await chain.call('evm_setAutomine', [true]);
  const transaction = await submit(chain, header);
  await expect.poll(() => paymentBy(one), WITHIN).toMatchObject({ state: 'UNKNOWN' });
  return { id: (await paymentBy(one))['id'], transaction };
}

describe('a payment that was spent in a transaction that no node shows', () => {
  it('is not kept if it is sent only afterwards, and is credited when it is sent again', async () => {
    const one = await buyer(chain, 10);
    const header = await headerOf(one);
    await submit(chain, header);
    await proxy.whileForgetful(async () => {
      expect(await send(header)).toBe(503);
    });
    expect(await paymentBy(one)).toEqual({});
    await sent(header);
    expect(await balanceOf(platform, one)).toBe(5);
    await proved();
  });

  it('is named by the audit, and credited automatically as soon as the node shows it', async () => {
    const one = await buyer(chain, 10);
    await proxy.whileForgetful(async () => {
      const { id } = await undecided(one);
      await expect.poll(async () => scraped(UNKNOWN), WITHIN).toBe(1);
      const { body } = await platform.operator('GET', '/payments/audit?scope=new');
      expect(body).toMatchObject({ ok: false });
      expect(body['mismatches']).toContainEqual(expect.stringMatching(`^Payment ${String(id)} .* UNKNOWN`));
    });
    await expect.poll(() => balanceOf(platform, one), WITHIN).toBe(5);
    await expect.poll(async () => scraped(UNKNOWN), WITHIN).toBe(0);
    await proved();
  });

  it('is credited by the transaction that the operator names, if it is on the chain', async () => {
    const one = await buyer(chain, 10);
    await proxy.whileForgetful(async () => {
      const { id, transaction } = await undecided(one);
      const resolve = (body: object) => platform.operator('POST', `/payments/${String(id)}/resolve`, body);
      const [credit, reason] = ['credit', 'found by hand'];
      const wrong = await resolve({ decision: credit, transaction: `0x${'12'.repeat(32)}`, reason });
      expect([wrong.status, wrong.body['code']]).toEqual([409, 'PAYMENT_DECISION_REFUSED']);
      const right = await resolve({ decision: credit, transaction, reason });
      expect(right.body).toMatchObject({ state: 'CREDITED', transaction });
      expect(right.body['resolution']).toEqual({ decision: credit, reason });
    });
    expect(await balanceOf(platform, one)).toBe(5);
    await proved();
  });
});

describe('a payment whose block arrives during the queries to the node', () => {
  it('is credited', async () => {
    const one = await buyer(chain, 10);
    await chain.call('evm_setAutomine', [false]);
    const header = await headerOf(one);
    expect(await send(header)).toBe(409);
    // The head is read, but not yet whether the payment is spent.
    await proxy.atNext('eth_getBlockByNumber latest', 'after', async () => {
      await chain.call('evm_mine', []);
    });
    await expect.poll(() => balanceOf(platform, one), WITHIN).toBe(5);
    const id = String((await paymentBy(one))['id']);
    const lines = (await platform.log()).split('\n').filter((line) => line.includes(id));
    expect(lines.filter((line) => line.includes('the state of a payment on the chain is unknown'))).toEqual(
      [],
    );
    await proved();
  });
});

describe('a node whose responses never end', () => {
  afterEach(() => {
    proxy.drips = () => false;
  });

  /** A payment that is sent, but not in a block. */
  async function onItsWay(): Promise<Buyer> {
    const one = await buyer(chain, 10);
    await chain.call('evm_setAutomine', [false]);
    expect(await send(await headerOf(one))).toBe(409);
    return one;
  }

  it('delays payments only while it does so', async () => {
    const one = await onItsWay();
    let calls = 0;
    proxy.drips = () => (calls += 1) > 0;
    await expect.poll(() => calls, WITHIN).toBeGreaterThan(2);
    proxy.drips = () => false;
    await chain.call('evm_mine', []);
    await expect.poll(() => balanceOf(platform, one), WITHIN).toBe(5);
    // Responses in progress continue until their deadlines, and the audit waits for the same ones.
    await expect
      .poll(async () => (await platform.operator('GET', '/payments/audit')).status, WITHIN)
      .toBe(200);
    await proved();
  });

  it('for one payment delays no other', async () => {
    const held = await onItsWay();
    const payer = held.wallet.address.slice(2).toLowerCase();
    let calls = 0;
    proxy.drips = (call) => call.toLowerCase().includes(payer) && (calls += 1) > 0;
    await expect.poll(() => calls, WITHIN).toBeGreaterThan(0);
    await chain.call('evm_setAutomine', [true]);
    const other = await onItsWay();
    await chain.call('evm_mine', []);
    await expect.poll(() => balanceOf(platform, other), WITHIN).toBe(5);
    expect(await balanceOf(platform, held)).toBe(0);
    proxy.drips = () => false;
    await expect.poll(() => balanceOf(platform, held), WITHIN).toBe(5);
    await proved();
  });
});

describe.runIf(isNightly)('one of our own transactions that is stuck', () => {
  it('is replaced with the same nonce and a higher fee, and credits once', async () => {
    const one = await buyer(chain, 10);
    await chain.call('evm_setAutomine', [false]);
    const header = await headerOf(one);
    expect(await send(header)).toBe(409);
    const first = (await paymentBy(one))['transaction'];
    await expect.poll(async () => (await paymentBy(one))['transaction'], WITHIN).not.toBe(first);
    // It is recorded before it is sent.
    const fees = () => proxy.sent.slice(-2).map(({ maxFeePerGas = 0n }) => maxFeePerGas);
    await expect.poll(() => Number((fees()[1] ?? 0n) - (fees()[0] ?? 0n)), WITHIN).toBeGreaterThan(0);
    expect(new Set(proxy.sent.slice(-2).map(({ nonce }) => nonce)).size).toBe(1);
    await chain.call('evm_setAutomine', [true]);
    await chain.call('evm_mine', []);
    await expect.poll(() => balanceOf(platform, one), WITHIN).toBe(5);
    await sent(header);
    expect(await balanceOf(platform, one)).toBe(5);
    await proved();
  });
});

describe.runIf(isNightly)('kill -9', () => {
  it.each(['before', 'after'] as const)(
    '%s a transaction is sent does not prevent its single credit',
    async (when) => {
      const one = await buyer(chain, 10);
      const header = await headerOf(one);
      const killed = proxy.atNext('eth_sendRawTransaction', when, () => platform.kill());
      const answer = await send(header).catch(() => 'cut');
      await killed;
      expect(answer).toBe('cut');
      await platform.restart();
      await expect.poll(() => balanceOf(platform, one), WITHIN).toBe(5);
      await sent(header);
      expect(await balanceOf(platform, one)).toBe(5);
      expect(await chain.balanceOf(one.wallet.address)).toBe(5_000_000n);
      await proved();
    },
  );
});
