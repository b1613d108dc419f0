import { LocalChain } from '@svc/infra';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { RECIPIENT, creditsOf, postRpc, rpcPayer, sending, signedTransfer } from '../rpc-payer.js';
import { type StartedProgram, startHardhat } from './environments.js';

/** The packages are downloaded once. */
const INSTALL_MS = 600_000;

let anvil: LocalChain;
let hardhat: StartedProgram;
let platform: Platform;
let by: Awaited<ReturnType<typeof rpcPayer>>;

beforeAll(async () => {
  [anvil, hardhat] = await Promise.all([LocalChain.start(), startHardhat(8_453)]);
  const second = { name: 'hardhat', url: hardhat.match[1], weight: 1e-9 };
  platform = await Platform.start({
    cryptoRpc: {
      networks: {
        base: {
          family: 'evm',
          chainId: 8_453,
          nodes: [{ name: 'anvil', url: anvil.url, weight: 1e9 }, second],
        },
        other: { family: 'evm', chainId: 1, nodes: [second] },
      },
    },
  });
  by = await rpcPayer(platform);
}, INSTALL_MS);
afterAll(async () => {
  await Promise.all([platform?.stop(), anvil?.stop(), hardhat?.stop()]);
});

const post = (body: unknown, network = 'base'): Promise<Response> => postRpc(platform, { network, by }, body);
const nodeOf = ({ headers }: Response): string | null => headers.get('x-svc-model-router');

const BLOCK = { id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] };

it('does not use another implementation of the wrong chain', async () => {
  expect((await post(BLOCK, 'other')).status).toBe(503);
});

it('calls another implementation when the first one has stopped: reads, lists, errors and transactions', async () => {
  expect(nodeOf(await post(BLOCK))).toBe('anvil');
  await anvil.stop();
  const block = await post(BLOCK);
  expect([nodeOf(block), creditsOf(block)]).toEqual(['hardhat', 20]);
  expect(await block.json()).toMatchObject({ id: 1, result: { number: '0x0' } });
  const list = await post([
    { id: 'a', method: 'eth_chainId' },
    { id: 'b', method: 'eth_getBalance', params: [RECIPIENT, 'latest'] },
    { id: 'c', method: 'eth_getBalance', params: ['0x1', 'latest'] },
  ]);
  expect(await list.json()).toMatchObject([
    { id: 'a', result: '0x2105' },
    { id: 'b', result: '0x0' },
    { id: 'c', error: { code: expect.any(Number) as number } },
  ]);
  expect(creditsOf(list)).toBe(20 + 20 + 5);
  const { raw, hash } = await signedTransfer({ fund: (address) => fund(hardhat.match[1] ?? '', address) });
  for (let time = 1; time <= 2; time += 1)
    expect(await (await post(sending(raw))).json()).toMatchObject({ result: hash });
  const balance = { id: 1, method: 'eth_getBalance', params: [RECIPIENT, 'latest'] };
  expect(await (await post(balance)).json()).toMatchObject({ result: '0x1' });
});

async function fund(url: string, address: string): Promise<void> {
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'hardhat_setBalance',
    params: [address, '0x56bc75e2d63100000'],
  };
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(call) });
  expect(await response.json()).toMatchObject({ result: true });
}
