import { LocalChain } from '@svc/infra';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sellerOn } from '../buyers.js';
import { type Undeployed, contractOf, contractSignIn, undeployedOf } from '../contract-wallets.js';
import { Platform } from '../platform.js';
import { RpcProxy } from '../rpc-proxy.js';
import { type TestWallet, evmWallet } from '../wallets.js';

let chain: LocalChain;
let node: RpcProxy;
let platform: Platform;

beforeAll(async () => {
  chain = await LocalChain.start();
  node = await RpcProxy.start(chain.url);
  const { env } = await sellerOn(chain, node);
  platform = await Platform.start({ env });
});
afterAll(async () => {
  await platform?.stop();
  await node?.stop();
  await chain?.stop();
});
afterEach(() => {
  node.mood = 'well';
});

interface Reply {
  readonly status: number;
  readonly code: unknown;
}

const LET_IN: Reply = { status: 200, code: undefined };
const REFUSED: Reply = { status: 401, code: 'X402_SIGN_IN_INVALID_SIGNATURE' };
const AWAY: Reply = { status: 503, code: 'UNAVAILABLE' };

/** The response to a wallet's request for its balance, with the given signature. */
async function answer(
  wallet: Pick<Undeployed, 'address'> & Partial<Undeployed>,
  signer: TestWallet,
): Promise<Reply> {
  const signIn = await contractSignIn(platform.rootUrl, wallet, signer);
  const headers = { 'SIGN-IN-WITH-X': signIn };
  const response = await fetch(`${platform.apiUrl}/x402/balance/${wallet.address}`, { headers });
  const { code } = (await response.json()) as { code?: unknown };
  return { status: response.status, code };
}

describe('a wallet that is a contract', () => {
  it('is admitted with a signature that the contract accepts, and with no other', async () => {
    const [owner, stranger] = [evmWallet(), evmWallet()];
    const wallet = { address: await contractOf(chain, owner.address) };
    expect(await answer(wallet, owner)).toEqual(LET_IN);
    expect(await answer(wallet, stranger)).toEqual(REFUSED);
    expect(await answer({ address: evmWallet().address }, owner)).toEqual(REFUSED);
  });

  it.each(['down', 'hanging', 'limited'] as const)(
    'gets an error while its chain is %s, and is admitted later',
    async (mood) => {
      const owner = evmWallet();
      const wallet = { address: await contractOf(chain, owner.address) };
      node.mood = mood;
      expect(await answer(wallet, owner)).toEqual(AWAY);
      node.mood = 'well';
      expect(await answer(wallet, owner)).toEqual(LET_IN);
    },
  );
});

describe('a wallet whose contract is not deployed yet', () => {
  it('is admitted with a signature that contains its deployment, and is not deployed by that', async () => {
    const owner = evmWallet();
    const wallet = undeployedOf(chain, owner.address);
    expect(await answer(wallet, owner)).toEqual(LET_IN);
    expect(await chain.call('eth_getCode', [wallet.address, 'latest'])).toBe('0x');
  });

  it('is admitted with and without the deployment data once it is deployed', async () => {
    const owner = evmWallet();
    const wallet = undeployedOf(chain, owner.address);
    await wallet.deploy();
    expect(await chain.call('eth_getCode', [wallet.address, 'latest'])).not.toBe('0x');
    expect(await answer(wallet, owner)).toEqual(LET_IN);
    expect(await answer({ address: wallet.address }, owner)).toEqual(LET_IN);
  });

  it('is refused with a signature by another signer, deployed or not', async () => {
    const stranger = evmWallet();
    const wallet = undeployedOf(chain, evmWallet().address);
    expect(await answer(wallet, stranger)).toEqual(REFUSED);
    await wallet.deploy();
    expect(await answer(wallet, stranger)).toEqual(REFUSED);
    expect(await answer({ address: wallet.address }, stranger)).toEqual(REFUSED);
  });

  it('is refused without deployment data, and with data for another contract', async () => {
    const owner = evmWallet();
    const [wallet, another] = [undeployedOf(chain, owner.address), undeployedOf(chain, owner.address)];
    expect(await answer({ address: wallet.address }, owner)).toEqual(REFUSED);
    expect(await answer({ ...another, address: wallet.address }, owner)).toEqual(REFUSED);
    expect(await answer({ ...wallet, address: evmWallet().address }, owner)).toEqual(REFUSED);
  });

  it('is refused if its signature is truncated, or wraps nothing', async () => {
    const owner = evmWallet();
    const wallet = undeployedOf(chain, owner.address);
    const cut = (signature: string): string => `0x${wallet.wrap(signature).slice(-200)}`;
    expect(await answer({ ...wallet, wrap: cut }, owner)).toEqual(REFUSED);
    expect(await answer({ ...wallet, wrap: () => wallet.wrap('0x') }, owner)).toEqual(REFUSED);
    expect(await answer({ ...wallet, wrap: () => `0x${'6492'.repeat(16)}` }, owner)).toEqual(REFUSED);
  });

  it('gets an error while its chain is down, and is admitted later', async () => {
    const owner = evmWallet();
    const wallet = undeployedOf(chain, owner.address);
    node.mood = 'down';
    expect(await answer(wallet, owner)).toEqual(AWAY);
    node.mood = 'well';
    expect(await answer(wallet, owner)).toEqual(LET_IN);
  });
});
