import { LocalSolana, NodeRefusal, noResponse } from '@svc/infra';
import { isLong } from '@svc/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Buyer, balanceOf, pay, paymentOf, sellerOnSolana, solanaBuyer, topUpUrl } from '../buyers.js';
import { Platform } from '../platform.js';

const fault = await LocalSolana.fault();
if (fault !== undefined) process.emitWarning(`Payments on Solana are not tested. ${fault}`);

let chain: LocalSolana;
let platform: Platform;

beforeAll(async () => {
  if (fault !== undefined || !isLong) return;
  chain = await LocalSolana.start();
  const { env } = await sellerOnSolana(chain);
  platform = await Platform.start({ env: { ...env, X402_SETTLE_WAIT_MS: '1500' } });
});
afterAll(async () => {
  await platform?.stop();
  chain?.stop();
});
afterEach(() => {
  if (fault !== undefined || !isLong) return;
  chain.interference = () => undefined;
  chain.commitment = 'finalized';
  chain.land();
});

const IN_PROGRESS = { status: 409, error: 'PAYMENT_IN_PROGRESS', retry: true };
const AWAY = { status: 503, error: 'UNAVAILABLE', retry: true };

async function signed(): Promise<{ one: Buyer; header: string }> {
  const one = await solanaBuyer(chain, 10);
  return { one, header: await paymentOf(one, topUpUrl(platform)) };
}

async function paid(header: string): Promise<{ status: number; error: unknown; retry: boolean }> {
  const response = await pay(platform, header);
  const { error } = (await response.json()) as { error?: unknown };
  return { status: response.status, error, retry: Number(response.headers.get('retry-after')) > 0 };
}

/** Waits until a payment is credited automatically, and checks that this happens once. */
async function isCreditedOnce(one: Buyer, header: string): Promise<void> {
  await expect.poll(() => balanceOf(platform, one), { timeout: 120_000 }).toBe(5);
  expect((await paid(header)).status).toBe(200);
  expect(await balanceOf(platform, one)).toBe(5);
  expect(await chain.balanceOf(one.wallet.address)).toBe(5_000_000n);
  expect((await platform.audit()).body).toMatchObject({ ok: true });
}

/** Waits until a payment has finally failed, and checks that no money moved. */
async function hasFailed(one: Buyer, header: string): Promise<void> {
  await expect.poll(() => paid(header), { timeout: 60_000 }).toMatchObject({ error: 'SETTLEMENT_FAILED' });
  expect(await balanceOf(platform, one)).toBe(0);
}

describe.skipIf(fault !== undefined || !isLong)('a payment on Solana', () => {
  it('is credited once after the restart if its process is killed while it is in transit', async () => {
    const { one, header } = await signed();
    chain.reception = 'held';
    expect(await paid(header)).toEqual(IN_PROGRESS);
    await platform.kill();
    chain.land();
    await platform.restart();
    await isCreditedOnce(one, header);
  });

  it('fails if it is lost in transit, but only once it has expired', async () => {
    const { one, header } = await signed();
    chain.reception = 'lost';
    expect(await paid(header)).toEqual(IN_PROGRESS);
    chain.pass(151);
    await hasFailed(one, header);
    chain.reception = 'lands';
    expect((await paid(header)).status).toBe(402);
    expect(await chain.balanceOf(one.wallet.address)).toBe(10_000_000n);
  });
});

describe.skipIf(fault !== undefined || !isLong)('a payment on Solana with a faulty node', () => {
  it('is sent once after the restart if its process is killed before sending it', async () => {
    const { one, header } = await signed();
    chain.interference = (method) => (method === 'sendTransaction' ? noResponse : undefined);
    const lost = paid(header).catch(() => undefined);
    await expect.poll(() => paid(header), { timeout: 60_000 }).toEqual(IN_PROGRESS);
    await platform.kill();
    await lost;
    chain.interference = () => undefined;
    await platform.restart();
    // The lease of the killed process must expire first.
    await isCreditedOnce(one, header);
  }, 240_000);

  it('is sent again if it is lost in transit', async () => {
    const { one, header } = await signed();
    chain.reception = 'lost';
    expect(await paid(header)).toEqual(IN_PROGRESS);
    chain.reception = 'lands';
    await isCreditedOnce(one, header);
  });

  it('waits until it has the required finality', async () => {
    const { one, header } = await signed();
    chain.commitment = 'confirmed';
    expect(await paid(header)).toEqual(IN_PROGRESS);
    expect(await balanceOf(platform, one)).toBe(0);
    chain.commitment = 'finalized';
    await isCreditedOnce(one, header);
  });

  it('fails if its money is gone when it arrives', async () => {
    const { one, header } = await signed();
    chain.reception = 'held';
    expect(await paid(header)).toEqual(IN_PROGRESS);
    await chain.ledger.close(one.wallet.address);
    chain.land();
    await hasFailed(one, header);
  });

  it.each<[string, () => unknown]>([
    ['refuses everything', () => Promise.reject(new NodeRefusal(-32_005, 'Node is behind by 400 slots'))],
    ['answers nothing', () => noResponse],
    ['answers nonsense', () => 'nonsense'],
  ])('gets a 503 while the node %s, nothing is kept, and the same header works later', async (_, answer) => {
    const { one, header } = await signed();
    chain.interference = answer;
    expect(await paid(header)).toEqual(AWAY);
    chain.interference = () => undefined;
    expect(await balanceOf(platform, one)).toBe(0);
    expect((await paid(header)).status).toBe(200);
    await isCreditedOnce(one, header);
  });

  it('gets a 503 while the node is behind, and does not know its blockhash', async () => {
    const { one, header } = await signed();
    chain.interference = (method) => {
      if (method === 'simulateTransaction')
        return { context: { slot: 1 }, value: { err: 'BlockhashNotFound', logs: [] } };
      if (method === 'getHealth') throw new NodeRefusal(-32_005, 'Node is behind by 400 slots');
      return undefined;
    };
    expect(await paid(header)).toEqual(AWAY);
    chain.interference = () => undefined;
    expect((await paid(header)).status).toBe(200);
    await isCreditedOnce(one, header);
  });

  it.each<[string, (method: string) => unknown]>([
    [
      'says that it is too late and knows less than before',
      (method) => {
        if (method === 'isBlockhashValid') return { context: { slot: 1_000_000 }, value: false };
        if (method === 'getSignatureStatuses') return { context: { slot: 5 }, value: [null] };
        return undefined;
      },
    ],
    [
      'keeps no history',
      (method) => {
        if (method === 'isBlockhashValid') return { context: { slot: 1_000_000 }, value: false };
        if (method === 'getSignatureStatuses') return { context: { slot: 1_000_000 }, value: [null] };
        if (method === 'getTransaction')
          throw new NodeRefusal(-32_011, 'Transaction history is not available');
        return undefined;
      },
    ],
    ['does not return what has arrived', (method) => (method === 'getTransaction' ? null : undefined)],
    [
      'shows another transaction',
      (method) =>
        method === 'getTransaction'
          ? {
              transaction: ['AAAA', 'base64'],
              meta: { err: null, preTokenBalances: [], postTokenBalances: [] },
            }
          : undefined,
    ],
    ['is gone', () => Promise.reject(new NodeRefusal(-32_603, 'Internal error'))],
  ])('that arrives while the node %s gets a 409, and is credited once afterwards', async (_, answer) => {
    const { one, header } = await signed();
    chain.reception = 'held';
    expect(await paid(header)).toEqual(IN_PROGRESS);
    chain.interference = answer;
    chain.land();
    expect(await paid(header)).toEqual(IN_PROGRESS);
    expect(await balanceOf(platform, one)).toBe(0);
    chain.interference = () => undefined;
    await isCreditedOnce(one, header);
  });

  it('is not credited if the node shows that another amount has arrived', async () => {
    const { one, header } = await signed();
    chain.interference = (method, [signature]) => {
      const landed = method === 'getTransaction' ? chain.ledger.find(String(signature)) : undefined;
      return (
        landed && { ...chain.shown(landed), meta: { err: null, preTokenBalances: [], postTokenBalances: [] } }
      );
    };
    expect(await paid(header)).toEqual(IN_PROGRESS);
    expect(await balanceOf(platform, one)).toBe(0);
    chain.interference = () => undefined;
    await isCreditedOnce(one, header);
  });
});
