import { LocalChain } from '@svc/infra';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import { eventually } from '../response-bodies.js';
import { RECIPIENT, countOn, creditsOf, postRpc, rpcPayer, sending, signedTransfer } from '../rpc-payer.js';
import { RpcProxy } from '../rpc-proxy.js';
import { evmWallet } from '../wallets.js';

/** Blocks after the last final one. */
const NOT_FINAL = 64;

let chain: LocalChain;
let node: RpcProxy;
let platform: Platform;
let account: TestAccount;
/** A transaction in a block that is final. */
let hash: string;

beforeAll(async () => {
  chain = await LocalChain.start();
  node = await RpcProxy.start(chain.url);
  platform = await Platform.start({
    cryptoRpc: {
      limits: { standard: { requestsPerMinute: 100_000, creditsPerMinute: 100_000_000 } },
      networks: { base: { family: 'evm', chainId: 8_453, nodes: [{ url: node.url }] } },
    },
  });
  account = await platform.account('10.00');
  const transfer = await signedTransfer(chain);
  ({ hash } = transfer);
  await read(sending(transfer.raw));
  await chain.call('anvil_mine', [`0x${(NOT_FINAL + 6).toString(16)}`]);
  // Routers look at nodes every 10 s. An account's calls go to one of them; 16 accounts reach each.
  const payers = await Promise.all(Array.from({ length: 16 }, () => rpcPayer(platform)));
  await eventually('every router knows the last final block', async () => {
    node.called.length = 0;
    const reads = payers.map((by) => ({ by, body: balanceAt('0x1', 1, evmWallet().address) }));
    for (const { by, body } of [...reads, ...reads]) await read(body, { by });
    return node.called.length === reads.length;
  });
}, 120_000);
afterAll(async () => {
  await Promise.all([platform.stop(), node.stop()]);
  await chain.stop();
});
beforeEach(() => {
  node.called.length = 0;
});

interface ReadResult {
  readonly result: unknown;
  readonly credits: number;
}

/** All from one gateway, since each keeps its own results. */
async function read(
  body: object,
  { by = account, signal = null as AbortSignal | null } = {},
): Promise<ReadResult> {
  const [to = platform.apiUrl] = platform.gatewayUrls;
  const response = await postRpc(platform, { network: 'base', by, signal, to }, body);
  const { result } = (await response.json()) as { result?: unknown };
  return { result, credits: creditsOf(response) };
}

const balanceAt = (block: string, id = 1, address = RECIPIENT): object => ({
  id,
  method: 'eth_getBalance',
  params: [address, block],
});
const blockAt = (number: string): object => ({
  id: 1,
  method: 'eth_getBlockByNumber',
  params: [number, false],
});

it.each([
  ['a balance', balanceAt('0x2')],
  ['a block', blockAt('0x2')],
  ['the chain', { id: 1, method: 'net_version' }],
])('reads %s that is final once from the node, and charges each call', async (_, body) => {
  const own = await rpcPayer(platform);
  const first = await read(body, { by: own });
  expect(first.result).toBeDefined();
  expect(await read(body, { by: own })).toEqual(first);
  expect(node.called).toHaveLength(1);
  await eventually('both are charged', async () => (await own.charged()) === 2 * 20);
});

it('reads a final receipt and transaction once from the node', async () => {
  for (const method of ['eth_getTransactionReceipt', 'eth_getTransactionByHash']) {
    const first = await read({ id: 1, method, params: [hash] });
    expect(first.result).toMatchObject({ blockNumber: '0x1' });
    expect(await read({ id: 1, method, params: [hash] })).toEqual(first);
  }
  expect(node.called).toEqual(['eth_getTransactionReceipt', 'eth_getTransactionByHash']);
});

it.each([
  ['the latest block', blockAt('latest')],
  ['the last final block by its tag', blockAt('finalized')],
  ['a block that may change', blockAt('0x46')],
  ['a block that does not exist', blockAt('0xffff')],
  ['an unknown transaction', { id: 1, method: 'eth_getTransactionByHash', params: [`0x${'1'.repeat(64)}`] }],
  ['code that does not exist', { id: 1, method: 'eth_getCode', params: [RECIPIENT, '0x1'] }],
])('reads %s from the node each time', async (_, body) => {
  for (let time = 1; time <= 2; time += 1) await read(body);
  expect(node.called).toHaveLength(2);
});

it('shows a transaction to the next read of its sender', async () => {
  const { raw, from } = await signedTransfer(chain);
  const count = { id: 1, method: 'eth_getTransactionCount', params: [from, 'latest'] };
  expect((await read(count)).result).toBe('0x0');
  await read(sending(raw));
  expect((await read(count)).result).toBe('0x1');
  expect(await countOn(chain, from)).toBe(1);
});

it('shows a reorganisation of blocks that are not final', async () => {
  const number = String(await chain.call('eth_blockNumber', []));
  const before = (await read(blockAt(number))).result as { hash: string };
  await chain.call('anvil_reorg', [3, []]);
  const after = (await read(blockAt(number))).result as { hash: string };
  expect(after.hash).not.toBe(before.hash);
  expect(after).toEqual(await chain.call('eth_getBlockByNumber', [number, false]));
});

it('reads once for 20 clients at the same time, and charges each but the one that disconnects', async () => {
  const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answered = node.atNext('eth_getBalance', 'after', () => {
    reached.resolve();
    return open.promise;
  });
  const payers = await Promise.all(Array.from({ length: 20 }, () => rpcPayer(platform)));
  const leaver = await rpcPayer(platform);
  const reading = payers.slice(0, 1).map((by) => read(balanceAt('0x3'), { by }));
  await reached.promise;
  reading.push(...payers.slice(1).map((by, id) => read(balanceAt('0x3', id), { by })));
  const leaving = new AbortController();
  const gone = read(balanceAt('0x3'), { by: leaver, signal: leaving.signal });
  leaving.abort();
  await expect(gone).rejects.toThrow(/abort/);
  open.resolve();
  for (const { result, credits } of await Promise.all(reading))
    expect([result, credits]).toEqual(['0x1', 20]);
  await answered;
  expect(node.called).toHaveLength(1);
  for (const { charged } of payers) await eventually('each is charged', async () => (await charged()) === 20);
  expect(await leaver.charged()).toBe(0);
});
