import { LocalChain } from '@svc/infra';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Seller, sellerOn } from '../buyers.js';
import { Platform } from '../platform.js';
import { type Output, openPython } from './environments.js';
import { faultOf, outcomesOf } from './outcomes.js';

/** A client loads in seconds, and makes a payment and a dozen short requests. */
const CLIENT_MS = 300_000;

const SCENARIOS = ['spend_controls', 'top_up', 'chat', 'stream', 'balance', 'transactions'];

const clients = await openPython();

describe.skipIf(!clients)('the unmodified Python x402 client, with a wallet on a chain', () => {
  let chain: LocalChain;
  let seller: Seller;
  let platform: Platform;
  let output: Output | undefined;
  const walletKey = generatePrivateKey();
  const wallet = privateKeyToAccount(walletKey).address;

  beforeAll(async () => {
    chain = await LocalChain.start();
    seller = await sellerOn(chain);
    await chain.mint(wallet, 100);
    platform = await Platform.start({ env: seller.env });
    const env = { SVC_URL: platform.apiUrl, SVC_WALLET_KEY: walletKey, PYTHONUTF8: '1' };
    output = await clients?.run('python', ['scenarios.py', 'client_x402'], { env, deadlineMs: CLIENT_MS });
  }, CLIENT_MS);

  afterAll(async () => {
    await platform?.stop();
    await chain?.stop();
  });

  it.each(SCENARIOS)('%s', (scenario) => {
    expect(faultOf(scenario, output)).toBeUndefined();
  });

  it('runs no other scenario', () => {
    expect(outcomesOf(output).map(({ name }) => name)).toEqual(SCENARIOS);
  });

  it('has paid once, and the books match the chain', async () => {
    expect(await chain.balanceOf(seller.address)).toBe(25_000_000n);
    expect(await chain.balanceOf(wallet)).toBe(75_000_000n);
    expect((await platform.audit()).body).toMatchObject({ ok: true });
  });
});
