import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { isLong, repeats } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { OPERATOR_TOKEN, Platform, type TestAccount } from '../platform.js';
import { type Posting, creditsOf, postRpc, rpcPayer } from '../rpc-payer.js';
import { ScriptedNode, type SentCall, echo, resultOf } from '../scripted-node.js';
import { isClustered } from '../target.js';

/** Providers of nodes put the keys of their customers into URLs. */
const PATH_KEY = 'aWzLqNpVbXcYdTeRgHuJ';

let first: ScriptedNode;
let second: ScriptedNode;
/** A node of another chain. */
let other: ScriptedNode;
let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  [first, second, other] = await Promise.all([
    ScriptedNode.start(),
    ScriptedNode.start(),
    ScriptedNode.start(),
  ]);
  other.chainId = '0x1';
  // The first node is called first.
  const nodes = [
    { name: 'first', url: first.url, weight: 1e9 },
    { name: 'second', url: second.url, weight: 1e-9 },
  ];
  platform = await Platform.start({
    // A node that fails once is called first again at once.
    env: { ROUTER_COOL_DOWN_MS: '1' },
    cryptoRpc: {
      limits: { standard: { requestsPerMinute: 1_000_000, creditsPerMinute: 1_000_000_000 } },
      networks: {
        two: { family: 'evm', nodes },
        one: {
          family: 'evm',
          maxLogBlocks: 10,
          methods: { zks_getL1BatchDetails: 3 },
          nodes: nodes.slice(0, 1),
        },
        keyed: { family: 'evm', nodes: [{ name: 'keyed', url: `${first.url}/v2/${PATH_KEY}` }] },
        'of-another-chain': { family: 'evm', chainId: 1, nodes: nodes.slice(0, 1) },
        'of-two-chains': { family: 'evm', chainId: 1, nodes: [nodes[0], { ...nodes[1], url: other.url }] },
      },
    },
  });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await Promise.all([platform.stop(), first.stop(), second.stop(), other.stop()]);
});
beforeEach(() => {
  for (const node of [first, second]) {
    node.answer = echo;
    node.sent.length = 0;
  }
});

const post = (network: string, body: unknown, posting: Posting = {}): Promise<Response> =>
  postRpc(platform, { network, by: account, ...posting }, body);

const CALL = { id: 1, method: 'eth_syncing' };
const errorFor =
  (code: number) =>
  (calls: readonly SentCall[]): { body: string } => {
    const errors = calls.map(({ id }) => ({ id, error: { code, message: 'no' } }));
    return { body: JSON.stringify(errors.length > 1 ? errors : errors[0]) };
  };

describe('a read that another node can answer', () => {
  it.each([
    ['a node that has too much to do', errorFor(-32_005)],
    ['an internal error', errorFor(-32_603)],
    ['a status of 400', () => ({ status: 400, body: 'no' })],
    ['a status of 429', () => ({ status: 429, body: '' })],
    ['a status of 500', () => ({ status: 500, body: '' })],
    ['half a response', () => ({ body: '{"id":0,"res' })],
    ['the response to another call', () => ({ body: '{"id":9,"result":1}' })],
    ['a broken connection', () => undefined],
    [
      'a compressed response, which nobody has requested',
      () => ({ body: gzipSync(`{"id":0,"result":"${' '.repeat(1_000_000)}"}`), encoding: 'gzip' }),
    ],
  ])('is answered by it after %s', async (_, answer) => {
    first.answer = answer;
    const response = await post('two', CALL);
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: 'eth_syncing' });
    expect(creditsOf(response)).toBe(20);
    expect([first.sent.length, second.sent.length]).toEqual([1, 1]);
  });

  it('is the only one of a list that is called again', async () => {
    first.answer = (calls) => ({ body: JSON.stringify(calls.slice(0, 2).map(resultOf)) });
    const methods = ['eth_syncing', 'eth_gasPrice', 'eth_blockNumber'];
    const response = await post(
      'two',
      methods.map((method, id) => ({ id, method })),
    );
    expect(await response.json()).toMatchObject(methods.map((method, id) => ({ id, result: method })));
    expect(creditsOf(response)).toBe(60);
    expect(second.methods).toEqual(['eth_blockNumber']);
  });

  it.each([3, -32_000, -32_601, -32_602])('is not one with the error %i', async (code) => {
    first.answer = errorFor(code);
    const response = await post('two', CALL);
    expect(await response.json()).toMatchObject({ error: { code } });
    expect(creditsOf(response)).toBe(5);
    expect(second.sent).toEqual([]);
  });

  it('keeps the error of the first node if no other one is better', async () => {
    first.answer = errorFor(-32_005);
    second.answer = () => undefined;
    const response = await post('two', CALL);
    expect(await response.json()).toMatchObject({ error: { code: -32_005 } });
    expect(creditsOf(response)).toBe(5);
  });

  it('has the error of JSON-RPC that a node sends with a status of 400', async () => {
    first.answer = (calls) => ({ status: 400, ...errorFor(-32_602)(calls) });
    const response = await post('one', CALL);
    expect([response.status, creditsOf(response)]).toEqual([200, 5]);
    expect(await response.json()).toMatchObject({ error: { code: -32_602 } });
  });
});

/** Text without end: after the beginning the same piece again and again. */
async function* endless(beginning: string, piece: string, pauseMs = 0): AsyncGenerator<string> {
  yield beginning;
  for (;;) {
    if (pauseMs > 0) await sleep(pauseMs);
    yield piece;
  }
}

describe('a response without end', () => {
  it.each([
    ['one string', '{"id":0,"result":"', 'a'.repeat(65_536)],
    ['responses to the call', '[', '{"jsonrpc":"2.0","id":0,"result":1},'.repeat(1_000)],
    ['blanks', '', ' '.repeat(65_536)],
    ['brackets', '', '['.repeat(65_536)],
  ])('of %s is cut off, and another node is called', async (_, beginning, piece) => {
    first.answer = () => ({ body: endless(beginning, piece) });
    const response = await post('two', CALL);
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: 'eth_syncing' });
    expect([creditsOf(response), first.sent.length, second.sent.length]).toEqual([20, 1, 1]);
  });

  it.runIf(isLong)('that drips is cut off after 10 s', { timeout: 90_000 }, async () => {
    first.answer = () => ({ body: endless('{"id":0,"result":"', 'a', 200) });
    const response = await post('two', CALL);
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: 'eth_syncing' });
    expect([creditsOf(response), second.sent.length]).toEqual([20, 1]);
    const own = await rpcPayer(platform);
    const alone = await post('one', CALL, { by: own });
    expect([alone.status, (await errorOf(alone)).error.code]).toEqual([504, 'REQUEST_TIMEOUT']);
    expect(await own.charged()).toBe(0);
  });
});

it('ignores responses that do not belong to the call, and calls another node', async () => {
  const lies = [
    '{"id":"0","result":"lie"}',
    '{"id":1,"result":"lie"}',
    '{"id":0.5,"result":"lie"}',
    '{"id":[0],"result":"lie"}',
    '{"result":"lie"}',
    '[[{"id":0,"result":"lie"}]]',
    '{"id":0,"method":"eth_sendTransaction","params":[]}',
    '[]',
    '{}',
  ];
  for (const body of lies) {
    first.answer = () => ({ body });
    const response = await post('two', CALL);
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: 'eth_syncing' });
  }
  expect(second.sent.length).toBe(lies.length);
});

describe('a node of another chain than its network', () => {
  it('is never called, so its network is refused and not listed', async () => {
    const own = await rpcPayer(platform);
    const response = await post('of-another-chain', CALL, { by: own });
    expect([response.status, first.sent]).toEqual([503, []]);
    const { networks } = (await (await fetch(`${platform.apiUrl}/crypto/rpc/networks`)).json()) as {
      networks: string[];
    };
    expect(networks.toSorted()).toEqual(['keyed', 'of-two-chains', 'one', 'two']);
    expect(await own.charged()).toBe(0);
  });

  it.skipIf(isClustered())('has a metric', async () => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const response = await fetch(new URL('/metrics', platform.operatorUrl), { headers });
    const series = (await response.text())
      .split('\n')
      .filter((line) => line.startsWith('svc_router_node_wrong_chain_ratio') && line.endsWith(' 1'));
    expect(series).toEqual(
      ['of-another-chain', 'of-two-chains'].map(
        (network) =>
          `svc_router_node_wrong_chain_ratio{gen_ai_request_model="#crypto-rpc-${network}",svc_backend="first"} 1`,
      ),
    );
  });

  it('leaves the calls to the others', async () => {
    const response = await post('of-two-chains', CALL);
    expect([response.status, response.headers.get('x-svc-model-router')]).toEqual([200, 'second']);
    expect(first.sent).toEqual([]);
  });
});

describe('what an operator sets for a network', () => {
  it('bounds the blocks of a filter: wider ones get a range that would do, free of charge', async () => {
    const filter = { fromBlock: '0x1', toBlock: '0x64' };
    const response = await post('one', [
      { id: 1, method: 'eth_getLogs', params: [filter] },
      { ...CALL, id: 2 },
    ]);
    expect(await response.json()).toMatchObject([
      { id: 1, error: { code: -32_602, message: expect.stringContaining('[0x1, 0xa]') as string } },
      { id: 2, result: 'eth_syncing' },
    ]);
    expect(creditsOf(response)).toBe(20);
    expect(first.methods).toEqual(['eth_syncing']);
  });

  it('passes on named tracers and short times of tracing only', async () => {
    const trace = (id: number, options: object): object => ({
      id,
      method: 'debug_traceTransaction',
      params: ['0x1', options],
    });
    const response = await post('one', [
      trace(1, { tracer: '{step(){for(;;);},fault(){},result(){}}' }),
      trace(2, { tracer: 'callTracer', timeout: '100000h' }),
      trace(3, { Tracer: 'callTracer' }),
      trace(4, { tracer: 'callTracer', timeout: '5s' }),
    ]);
    const refused = (name: string): object => ({
      error: { code: -32_602, message: expect.stringContaining(name) as string },
    });
    expect(await response.json()).toMatchObject([
      refused('tracer'),
      refused('timeout'),
      refused('tracer'),
      { result: 'debug_traceTransaction' },
    ]);
    expect(creditsOf(response)).toBe(40);
    expect(first.methods).toHaveLength(1);
  });

  it('shows no key of a node that repeats it, in an error or a result', async () => {
    first.answer = (calls) => {
      const error = { code: -32_000, message: `key ${PATH_KEY} is over its quota`, data: { at: PATH_KEY } };
      const answers = calls.map(({ id }) => (id === 0 ? { id, error } : { id, result: `v1/${PATH_KEY}` }));
      return { body: JSON.stringify(answers) };
    };
    const calls = [1, 2].map((id) => ({ id, method: 'web3_clientVersion', params: [id] }));
    const text = await (await post('keyed', calls)).text();
    expect(text).toContain('over its quota');
    expect(text).toContain('"result":"v1/…"');
    expect(text).not.toContain(PATH_KEY);
  });

  it('adds methods at a price', async () => {
    const call = { id: 1, method: 'zks_getL1BatchDetails', params: [1] };
    expect(creditsOf(await post('one', call))).toBe(60);
    expect((await post('two', call)).status).toBe(400);
  });
});

/** One of many outcomes for each call of a list, and sometimes none for the whole. */
function atRandom(calls: readonly SentCall[]): { status?: number; body: string } | undefined {
  const dice = Math.random();
  if (dice < 0.03) return undefined;
  if (dice < 0.06) return { status: 500, body: '' };
  const items = calls.flatMap((call) => {
    const outcome = Math.random();
    if (outcome < 0.1) return [];
    if (outcome < 0.3) return [{ id: call.id, error: { code: outcome < 0.2 ? 3 : -32_603, message: 'no' } }];
    return outcome < 0.4 ? [resultOf(call), resultOf(call)] : [resultOf(call)];
  });
  return { body: JSON.stringify(items.toSorted(() => Math.random() - 0.5)) };
}

const BATCHES = repeats('RPC_LISTS');
const AT_ONCE = 8;

it(
  `the books agree with the credits of the headers after ${BATCHES} random lists`,
  { timeout: 600_000 },
  async () => {
    const own = await rpcPayer(platform);
    await platform.operator('POST', `/accounts/${own.id}/credits`, { usd: '999.00', reference: 'more' });
    first.answer = atRandom;
    second.answer = atRandom;
    const methods = ['eth_syncing', 'eth_getBalance', 'debug_traceTransaction', 'txpool_content'];
    let left = BATCHES;
    let credits = 0;
    const work = async (): Promise<void> => {
      for (; left > 0;) {
        left -= 1;
        const calls = Array.from({ length: Math.ceil(Math.random() * 20) }, (_, id) => ({
          id,
          method: methods[Math.floor(Math.random() * methods.length)],
        }));
        const response = await post('two', calls, { by: own });
        const answers = (await response.json()) as { id: number }[];
        credits += creditsOf(response);
        const expected = response.status === 200 ? calls.map(({ id }) => id) : undefined;
        expect(Array.isArray(answers) ? answers.map(({ id }) => id) : undefined).toEqual(expected);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    const paid = async (): Promise<number> =>
      Math.round((1_000e9 - Number((await platform.balances(own.id)).usd) * 1e9) / 700);
    await eventually('all is charged', async () => (await paid()) === credits);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  },
);
