import { LocalChain, LocalSolana } from '@svc/infra';
import { createPublicClient, http } from 'viem';
import { base } from 'viem/chains';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import { ScriptedNode, type SentCall, echo, resultOf } from '../scripted-node.js';
import { evmWallet, signedInAt } from '../wallets.js';

/** Why this machine cannot run a local Solana chain; `undefined` if it can. */
const noSolana = await LocalSolana.fault();

let chain: LocalChain;
let node: ScriptedNode;
let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  [chain, node] = await Promise.all([LocalChain.start(), ScriptedNode.start()]);
  const nodes = [{ url: node.url }];
  platform = await Platform.start({
    cryptoRpc: {
      limits: { standard: { requestsPerMinute: 100_000, creditsPerMinute: 100_000_000 } },
      networks: {
        'base-local': { family: 'evm', nodes: [{ name: 'anvil', url: chain.url }] },
        'two-nodes': {
          family: 'evm',
          nodes: [
            { url: 'http://127.0.0.1:1', weight: 1e9 },
            { url: chain.url, weight: 1e-9 },
          ],
        },
        scripted: { family: 'evm', nodes },
        starknet: { family: 'starknet', nodes },
        solana: { family: 'solana', credits: 30, nodes },
        small: { family: 'evm', batch: 2, nodes },
        away: { family: 'evm', nodes: [{ url: 'http://127.0.0.1:1' }] },
      },
    },
  });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await Promise.all([platform.stop(), chain.stop(), node.stop()]);
});
beforeEach(() => {
  node.answer = echo;
  node.sent.length = 0;
});

function post(network: string, body: unknown, { apiKey }: Pick<TestAccount, 'apiKey'> = account) {
  return fetch(`${platform.apiUrl}/crypto/rpc/${network}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The response of a request that must succeed. */
async function answered(network: string, body: unknown): Promise<{ text: string; credits: number }> {
  const response = await post(network, body);
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  return { text, credits: Number(response.headers.get('x-svc-rpc-credits')) };
}

describe('POST /crypto/rpc/{network}', () => {
  it('serves viem, single and in batches, and charges what its headers say', async () => {
    const own = await platform.account('1.00');
    let credits = 0;
    const transport = (batch: boolean) =>
      http(`${platform.apiUrl}/crypto/rpc/base-local`, {
        batch,
        fetchOptions: { headers: { authorization: `Bearer ${own.apiKey}` } },
        onFetchResponse: ({ headers }) => {
          credits += Number(headers.get('x-svc-rpc-credits'));
          expect(headers.get('x-svc-rpc-cost-usd')).toMatch(/^0\.\d{9}$/);
          expect(headers.get('x-svc-model-router')).toBe('anvil');
        },
      });
    const address = evmWallet().account.address;
    await chain.fund(address);
    const single = createPublicClient({ chain: base, transport: transport(false) });
    expect(await single.getChainId()).toBe(8_453);
    expect(await single.getBalance({ address })).toBeGreaterThan(0n);
    const batched = createPublicClient({ chain: base, transport: transport(true) });
    const [number, block, fees] = await Promise.all([
      batched.getBlockNumber(),
      batched.getBlock(),
      batched.getFeeHistory({ blockCount: 1, rewardPercentiles: [50] }),
    ]);
    expect(block.number).toBe(number);
    expect(fees.baseFeePerGas.length).toBeGreaterThan(0);
    const { data } = await batched.call({ to: address, data: '0x' });
    expect(data).toBeUndefined();
    expect(credits).toBe(6 * 20);
    const left = (1_000_000_000 - credits * 700) / 1e9;
    await eventually('it is charged', async () => Number((await platform.balances(own.id)).usd) === left);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  });

  it('calls another node if one fails', async () => {
    const { text } = await answered('two-nodes', { id: 1, method: 'eth_chainId' });
    expect(JSON.parse(text)).toEqual({ jsonrpc: '2.0', id: 1, result: '0x2105' });
  });

  it.each(['1', '9007199254740993', '"\\u0000"', 'null', '"a b"', '-0', '1e3'])(
    'returns an id as it came: %s',
    async (id) => {
      const { text } = await answered('scripted', `{"method":"eth_syncing","id": ${id} }`);
      expect(text).toBe(`{"jsonrpc":"2.0","id":${id},"result":"eth_syncing"}`);
    },
  );

  it('sends only what it has checked, and passes numbers on as they came', async () => {
    const result = '{"rentEpoch":18446744073709551615}';
    node.answer = () => ({ body: `{"id":0,"result":${result}}` });
    const request = `{"method":"admin_x","id":5,"extra":1,"params":[18446744073709551615, {"a":1.0}],"method":"getSlot"}`;
    const { text } = await answered('solana', request);
    expect(text).toBe(`{"jsonrpc":"2.0","id":5,"result":${result}}`);
    expect(node.sent).toEqual([
      '{"jsonrpc":"2.0","id":0,"method":"getSlot","params":[18446744073709551615, {"a":1.0}]}',
    ]);
  });

  it('passes a large parameter on', async () => {
    const data = `0x${'ab'.repeat(400_000)}`;
    await answered('scripted', { id: 1, method: 'eth_call', params: [{ data }, 'latest'] });
    expect((JSON.parse(node.sent[0] ?? '') as SentCall).params).toEqual([{ data }, 'latest']);
  });

  it('pairs the answers of a node that shuffles, repeats, drops and adds', async () => {
    node.answer = (calls) => ({
      body: JSON.stringify([
        { id: 99, result: 'foreign' },
        ...calls.slice(1).map(resultOf).toReversed(),
        ...calls.slice(1).map((call) => ({ ...resultOf(call), result: 'again' })),
      ]),
    });
    const methods = ['eth_syncing', 'eth_blockNumber', 'eth_gasPrice'];
    const { text, credits } = await answered(
      'scripted',
      methods.map((method, at) => ({ id: `${at}`, method })),
    );
    expect(JSON.parse(text)).toEqual([
      {
        jsonrpc: '2.0',
        id: '0',
        error: { code: -32_603, message: expect.stringMatching(/not charged/) as string },
      },
      { jsonrpc: '2.0', id: '1', result: 'eth_blockNumber' },
      { jsonrpc: '2.0', id: '2', result: 'eth_gasPrice' },
    ]);
    expect(credits).toBe(40);
  });

  it('splits a list for nodes that take few calls at a time', async () => {
    const calls = Array.from({ length: 5 }, (_, id) => ({ id, method: 'eth_syncing' }));
    const { text } = await answered('small', calls);
    expect((JSON.parse(text) as { id: number }[]).map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
    expect(
      node.sent.map((sent) => [JSON.parse(sent) as SentCall].flat().length).toSorted((a, b) => a - b),
    ).toEqual([1, 2, 2]);
  });

  it('prices methods by their tier, and errors of the node at five credits', async () => {
    expect((await answered('scripted', { id: 1, method: 'txpool_content' })).credits).toBe(80);
    expect((await answered('scripted', { id: 1, method: 'debug_traceTransaction' })).credits).toBe(40);
    expect((await answered('solana', { id: 1, method: 'getSupply' })).credits).toBe(120);
    expect((await answered('starknet', { id: 1, method: 'starknet_blockNumber' })).credits).toBe(20);
    node.answer = ([call]) => ({
      body: JSON.stringify({ id: call?.id, error: { code: 3, message: 'execution reverted', data: '0x08' } }),
    });
    const { text, credits } = await answered('scripted', { id: 1, method: 'eth_call' });
    expect(credits).toBe(5);
    expect(JSON.parse(text)).toMatchObject({
      error: { code: 3, message: 'execution reverted', data: '0x08' },
    });
  });

  it('executes and charges a notification, and says nothing', async () => {
    const response = await post('scripted', { method: 'eth_syncing' });
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect(response.headers.get('x-svc-rpc-credits')).toBe('20');
    const { text, credits } = await answered('scripted', [
      { method: 'eth_syncing' },
      { id: 2, method: 'eth_gasPrice' },
    ]);
    expect(JSON.parse(text)).toEqual([{ jsonrpc: '2.0', id: 2, result: 'eth_gasPrice' }]);
    expect(credits).toBe(40);
  });

  it.each([
    ['eth_sendTransaction', 'scripted'],
    ['eth_accounts', 'scripted'],
    ['ETH_chainId', 'scripted'],
    ['eth_chainid', 'scripted'],
    ['eth_syncing ', 'scripted'],
    ['eth_newFilter', 'scripted'],
    ['eth_subscribe', 'scripted'],
    ['personal_unlockAccount', 'scripted'],
    ['debug_setHead', 'scripted'],
    ['anvil_setBalance', 'base-local'],
    ['evm_mine', 'base-local'],
    ['getSlot', 'scripted'],
    ['eth_syncing', 'solana'],
    ['requestAirdrop', 'solana'],
    ['constructor', 'scripted'],
    ['__proto__', 'scripted'],
  ])('never passes %s on to %s, nor the calls beside it', async (method, network) => {
    const own = await platform.account('1.00');
    const fine = network === 'solana' ? 'getSlot' : 'eth_blockNumber';
    for (const body of [
      { id: 1, method },
      [
        { id: 1, method: fine },
        { id: 2, method },
      ],
    ]) {
      const response = await post(network, body, own);
      expect(response.status).toBe(400);
      expect((await errorOf(response)).error).toMatchObject({ code: 'UNSUPPORTED_METHOD', param: 'method' });
    }
    expect(node.sent).toEqual([]);
    expect((await platform.balances(own.id)).usd).toBe('1.00');
  });

  it.each([
    ['{"id":1,', 'INVALID_JSON'],
    ['[]', 'INVALID_REQUEST'],
    ['"eth_syncing"', 'INVALID_REQUEST'],
    ['{"id":1}', 'INVALID_REQUEST'],
    ['{"id":1.5,"method":"eth_syncing"}', 'INVALID_REQUEST'],
    ['{"id":{},"method":"eth_syncing"}', 'INVALID_REQUEST'],
    ['{"id":1,"method":7}', 'INVALID_REQUEST'],
    ['{"id":1,"method":"eth_syncing","params":"latest"}', 'INVALID_REQUEST'],
    ['{"id":1,"method":"eth_syncing","jsonrpc":"1.0"}', 'INVALID_REQUEST'],
    [
      JSON.stringify(Array.from({ length: 101 }, () => ({ id: 1, method: 'eth_syncing' }))),
      'INVALID_REQUEST',
    ],
  ])('refuses a body that is no call: %#', async (body, code) => {
    const response = await post('scripted', body);
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.code).toBe(code);
    expect(node.sent).toEqual([]);
  });

  it('refuses an unknown network by its name', async () => {
    for (const network of ['ethereum-mainnet', 'constructor', 'Scripted']) {
      const response = await post(network, { id: 1, method: 'eth_syncing' });
      expect(response.status).toBe(400);
      expect((await errorOf(response)).error.param).toBe('network');
    }
  });

  it.each([
    ['an error status', () => ({ status: 500, body: '{}' })],
    ['a page', () => ({ body: '<html></html>' })],
    ['half of an answer', () => ({ body: '{"id":0,"res' })],
    ['deep nesting', () => ({ body: `${'['.repeat(200_000)}${']'.repeat(200_000)}` })],
    ['a rejection', () => ({ status: 400, body: '{"error":"no"}' })],
  ])('charges nothing for a node that sends %s', async (_, answer) => {
    const own = await platform.account('1.00');
    node.answer = answer;
    const response = await post('scripted', { id: 1, method: 'eth_syncing' }, own);
    expect(response.status).toBe(503);
    expect((await errorOf(response)).error.code).toBe('UNAVAILABLE');
    expect((await platform.balances(own.id)).usd).toBe('1.00');
  });

  it.each([
    ['the answer to something else', '{"id":7,"result":1}'],
    ['neither a result nor an error', '{"id":0}'],
  ])('answers with an error, free of charge, if a node sends %s', async (_, body) => {
    node.answer = () => ({ body });
    const { text, credits } = await answered('scripted', { id: 1, method: 'eth_syncing' });
    expect(JSON.parse(text)).toMatchObject({ id: 1, error: { code: -32_603 } });
    expect(credits).toBe(0);
  });

  it('replaces a result that is too large by an error', async () => {
    node.answer = () => ({ body: `{"id":0,"result":"${'a'.repeat(10_500_000)}"}` });
    const { text, credits } = await answered('scripted', { id: 1, method: 'eth_getLogs' });
    expect(JSON.parse(text)).toMatchObject({ id: 1, error: { code: -32_005 } });
    expect(credits).toBe(20);
  });

  it('calls nothing that an account cannot pay', async () => {
    const own = await platform.account('0.00001');
    const response = await post('scripted', { id: 1, method: 'eth_syncing' }, own);
    expect(response.status).toBe(402);
    expect(node.sent).toEqual([]);
  });

  it('serves a wallet', async () => {
    const wallet = evmWallet();
    const { body } = await platform.operator('POST', '/accounts', { name: 'wallet', wallet: wallet.address });
    const id = String(body['id']);
    await platform.operator('POST', `/accounts/${id}/credits`, { usd: '1.00', reference: `rpc-${id}` });
    const response = await fetch(`${platform.apiUrl}/crypto/rpc/scripted`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(await signedInAt(platform.rootUrl, wallet)) },
      body: JSON.stringify({ id: 1, method: 'eth_syncing' }),
    });
    expect(response.status).toBe(200);
    await eventually('it is charged', async () => (await platform.balances(id)).usd === '0.999986');
  });

  it.skipIf(noSolana !== undefined)('reads from a Solana node', async () => {
    const solana = await LocalSolana.start({});
    const own = await Platform.start({
      cryptoRpc: { networks: { local: { family: 'solana', batch: 1, nodes: [{ url: solana.url }] } } },
    });
    try {
      const { apiKey } = await own.account('1.00');
      const response = await fetch(`${own.apiUrl}/crypto/rpc/local`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify([
          { id: 'a', method: 'getLatestBlockhash', params: [] },
          { id: 'b', method: 'getLatestBlockhash', params: [] },
        ]),
      });
      expect(await response.json()).toMatchObject([
        { id: 'a', result: { value: { blockhash: expect.any(String) as string } } },
        { id: 'b', result: { value: { blockhash: expect.any(String) as string } } },
      ]);
    } finally {
      await own.stop();
      solana.stop();
    }
  });
});

describe('the limits of blockchain calls', () => {
  it('pool the credits of all methods, and refuse without Retry-After', async () => {
    const limited = await Platform.start({
      cryptoRpc: {
        limits: { standard: { requestsPerMinute: 100, creditsPerMinute: 100 } },
        networks: { local: { family: 'evm', nodes: [{ url: node.url }] } },
      },
    });
    try {
      const { apiKey } = await limited.account('1.00');
      const ask = (body: object): Promise<Response> =>
        fetch(`${limited.apiUrl}/crypto/rpc/local`, {
          method: 'POST',
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      // A minute that ends between the requests begins a new window, so there are enough for two.
      const statuses: number[] = [];
      let refused: Response | undefined;
      for (let at = 0; at < 12 && !refused; at += 1) {
        const response = await ask([
          { id: 1, method: 'eth_syncing' },
          { id: 2, method: 'txpool_status' },
        ]);
        statuses.push(response.status);
        if (response.status === 429) refused = response;
      }
      expect(statuses.at(-1)).toBe(429);
      expect(statuses.length).toBeLessThanOrEqual(3);
      expect(refused?.headers.get('retry-after')).toBeNull();
      expect(Number(refused?.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1_000 - 60);
      expect((await errorOf(refused as Response)).error.message).toMatch(/100 credits per minute/);
    } finally {
      await limited.stop();
    }
  });
});

describe('GET /crypto/rpc/networks', () => {
  it('lists the networks whose nodes respond, to anyone', async () => {
    const response = await fetch(`${platform.apiUrl}/crypto/rpc/networks`);
    expect(await response.json()).toEqual({
      networks: ['base-local', 'scripted', 'small', 'solana', 'starknet', 'two-nodes'],
    });
  });
});
