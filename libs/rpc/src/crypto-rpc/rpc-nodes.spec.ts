import { setImmediate as turn } from 'node:timers/promises';
import { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import { CatalogFile } from '@svc/contracts/catalog';
import { type NetworkCall, Nodes, type Served } from '@svc/contracts/inference';
import type { Problem } from '@svc/contracts/problems';
import type { RpcRequest } from '@svc/api/crypto-rpc';
import { JsonText, createLogger } from '@svc/runtime';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NodeRequests } from './node-requests.js';
import { RpcNodes, type RpcOutcomes } from './rpc-nodes.js';
import { planRpc } from './rpc-plan.js';
import { RpcSends } from './rpc-sends.js';
import { SharedReads } from './shared-reads.js';

interface SentCall {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** A node: each result is the number of the request that got it. */
class TestNodes extends Nodes {
  readonly sent: SentCall[][] = [];
  aborted = 0;
  finalizedBlock: number | undefined = 100;
  /** Resolves when the node may respond. */
  gate: Promise<void> = Promise.resolve();
  result: (call: SentCall) => unknown = () => `0x${this.sent.length}`;

  override async call({ body }: NetworkCall, signal: AbortSignal): Promise<Served<string>> {
    const calls = [JSON.parse(Buffer.concat(body).toString()) as SentCall | SentCall[]].flat();
    this.sent.push(calls);
    const { promise: left, reject } = Promise.withResolvers<never>();
    const leave = (): void => {
      this.aborted += 1;
      reject(new Error('aborted'));
    };
    signal.addEventListener('abort', leave);
    await Promise.race([this.gate, left]).finally(() => signal.removeEventListener('abort', leave));
    const items = calls.map((call) => ({ id: call.id, result: this.result(call) }));
    const { finalizedBlock } = this;
    return {
      backend: 'node',
      retries: 0,
      result: JSON.stringify(items),
      ...(finalizedBlock !== undefined && { finalizedBlock }),
    };
  }
}

const one = { family: 'evm', nodes: [{ url: 'http://127.0.0.1:1' }] };
const file = CatalogFile.parse({
  models: [
    {
      id: 'm',
      name: 'm',
      contextTokens: 1_000,
      maxCompletionTokens: 100,
      pricing: { input: 1, output: 1 },
      backends: [{ url: 'http://127.0.0.1:1', model: 'm' }],
    },
  ],
  tiers: { L: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } },
  cryptoRpc: { networks: { one, two: one } },
});
const caller = { accountId: 'a', tier: 'standard' } as Caller;

let testNodes: TestNodes;
let nodes: RpcNodes;
let catalog: Catalog;

beforeEach(() => {
  testNodes = new TestNodes();
  catalog = new Catalog(file);
  const requests = new NodeRequests(testNodes);
  const sends = new RpcSends(requests, { log: createLogger('silent') });
  nodes = new RpcNodes(requests, sends, new SharedReads(catalog), catalog);
});

/** Makes these calls as one request. */
async function call(
  body: RpcRequest,
  { signal = new AbortController().signal, network = 'one' } = {},
): Promise<RpcOutcomes> {
  const json = new JsonText(JSON.stringify(body));
  const { strings } = json;
  const plan = await planRpc(network, { body, json, caller, finalizedBlock: undefined }, catalog);
  return nodes.call(plan, { strings, caller: { requestId: 'r', accountId: 'a', mayBeSent: false } }, signal);
}

const balance = (block: string, id = 1) => ({ id, method: 'eth_getBalance', params: ['0xa', block] });
const resultsOf = ({ outcomes }: RpcOutcomes): unknown[] =>
  outcomes.map((outcome) => (outcome && 'result' in outcome ? JSON.parse(outcome.result) : outcome));

/** After it, the block that is final is known. */
const known = async (): Promise<void> => {
  await call({ id: 1, method: 'eth_blockNumber' });
  testNodes.sent.length = 0;
};

/** A gate that opens when the test says. */
function closed(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  testNodes.gate = promise;
  return resolve;
}

/** Resolves when all requests so far have reached the node, or wait for one that has. */
const sent = (): Promise<void> => turn();

describe('a result that lasts', () => {
  beforeEach(known);

  it('is read once, and has the name of its node', async () => {
    const first = await call(balance('0x64'));
    expect(await call(balance('0x64', 2))).toEqual(first);
    expect([first.backend, testNodes.sent.length]).toEqual(['node', 1]);
  });

  it('is read again for another network, other parameters, and after a change of the catalogue', async () => {
    await call(balance('0x5'));
    await call(balance('0x5'), { network: 'two' });
    await call(balance('0x6'));
    expect(testNodes.sent).toHaveLength(3);
    catalog.replace(file);
    await call(balance('0x5'));
    expect(testNodes.sent).toHaveLength(4);
  });

  it('leaves the other calls of a list, which go out together', async () => {
    await call(balance('0x64'));
    const list = [balance('latest', 1), balance('0x64', 2), balance('0x65', 3)];
    expect(resultsOf(await call(list))).toEqual(['0x2', '0x1', '0x2']);
    expect(testNodes.sent[1]?.map(({ params }) => params?.[1])).toEqual(['latest', '0x65']);
  });

  it('is read once for a list that has it 100 times', async () => {
    const found = await call(Array.from({ length: 100 }, (_, id) => balance('0x64', id)));
    expect(resultsOf(found)).toEqual(Array.from({ length: 100 }, () => '0x1'));
    expect(testNodes.sent).toHaveLength(1);
    expect(testNodes.sent[0]).toHaveLength(1);
  });
});

describe('a result that may change is read each time', () => {
  it.each([
    ['at a tag', balance('latest'), 'x'],
    ['after the last final block', balance('0x65'), 'x'],
    [
      'of a transaction after it',
      { id: 1, method: 'eth_getTransactionByHash', params: ['0x1'] },
      { blockNumber: '0x65' },
    ],
    ['that is null', balance('0x1'), null],
    ['that is empty', { id: 1, method: 'eth_getLogs', params: [{ fromBlock: '0x1', toBlock: '0x2' }] }, []],
    ['that is 0x', { id: 1, method: 'eth_getCode', params: ['0xa', '0x1'] }, '0x'],
    ['that is too large', balance('0x1'), 'a'.repeat(1_048_576)],
  ])('%s', async (_, body, result) => {
    await known();
    testNodes.result = () => result;
    for (let time = 1; time <= 2; time += 1) await call(body);
    expect(testNodes.sent).toHaveLength(2);
  });

  it('that is an error', async () => {
    await known();
    testNodes.result = () => undefined;
    for (let time = 1; time <= 2; time += 1) await call(balance('0x1'));
    expect(testNodes.sent).toHaveLength(2);
  });

  it('while no final block is known, neither before the call nor with its response', async () => {
    await call(balance('0x1'));
    testNodes.finalizedBlock = undefined;
    await call(balance('0x1'));
    testNodes.finalizedBlock = 100;
    await call(balance('0x1'));
    expect(testNodes.sent).toHaveLength(3);
    await call(balance('0x1'));
    await call(balance('0x1'));
    expect(testNodes.sent).toHaveLength(4);
  });

  it('that was not final yet when the call began', async () => {
    await known();
    const open = closed();
    const reading = call(balance('0x65'));
    testNodes.finalizedBlock = 200;
    open();
    await reading;
    await call(balance('0x65'));
    expect(testNodes.sent).toHaveLength(2);
  });
});

describe('reads at the same time', () => {
  beforeEach(known);
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('share one call of a node if they are for a final block', async () => {
    const open = closed();
    const reading = Array.from({ length: 20 }, (_, id) => call(balance('0x1', id)));
    open();
    for (const found of await Promise.all(reading)) expect(resultsOf(found)).toEqual(['0x1']);
    expect(testNodes.sent).toHaveLength(1);
  });

  it.each([
    ['at a tag', balance('latest')],
    ['of a block that is not final', balance('0x65')],
    [
      'by a hash, which may be that of a new transaction',
      { id: 1, method: 'eth_getTransactionReceipt', params: ['0x1'] },
    ],
  ])('are separate %s', async (_, body) => {
    const open = closed();
    const reading = [call(body), call(body)];
    open();
    await Promise.all(reading);
    expect(testNodes.sent).toHaveLength(2);
  });

  it('go on when the first client disconnects, which has no result', async () => {
    const open = closed();
    const leaving = new AbortController();
    const first = call([balance('0x1'), balance('latest')], { signal: leaving.signal });
    const others = [call(balance('0x1')), call(balance('0x1'))];
    await sent();
    leaving.abort();
    await expect(first).rejects.toMatchObject({ code: 'UNAVAILABLE' } satisfies Partial<Problem>);
    open();
    for (const found of await Promise.all(others)) expect(resultsOf(found)).toEqual(['0x1']);
    expect([testNodes.sent.length, testNodes.aborted]).toEqual([1, 0]);
  });

  it('go on when another client disconnects, and end with the last one', async () => {
    closed();
    const leaving = [new AbortController(), new AbortController()];
    const reading = leaving.map(({ signal }) => call(balance('0x1'), { signal }));
    const ended = Promise.allSettled(reading);
    await sent();
    leaving[1]?.abort();
    await expect(reading[1]).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(testNodes.aborted).toBe(0);
    leaving[0]?.abort();
    await ended;
    expect([testNodes.sent.length, testNodes.aborted]).toEqual([1, 1]);
  });

  it('wait for 10 s, and are then made alone', async () => {
    const late = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(late.signal);
    const open = closed();
    const first = call(balance('0x1'));
    await sent();
    const second = call(balance('0x1'));
    await sent();
    expect([testNodes.sent.length, timeout.mock.calls]).toEqual([1, [[10_000]]]);
    testNodes.gate = Promise.resolve();
    late.abort();
    expect(resultsOf(await second)).toEqual(['0x2']);
    open();
    expect(resultsOf(await first)).toEqual(['0x2']);
    expect(testNodes.aborted).toBe(0);
  });

  it('are made by each alone if the shared one fails', async () => {
    const failing = Promise.withResolvers<void>();
    testNodes.gate = failing.promise;
    const reading = [call(balance('0x1')), call(balance('0x1')), call(balance('0x1'))];
    const ended = Promise.allSettled(reading);
    await sent();
    testNodes.gate = Promise.resolve();
    failing.reject(new Error('the node is gone'));
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(testNodes.sent).toHaveLength(3);
  });
});

it('keeps results up to a bound, whatever the clients read', () => {
  const shared = new SharedReads(catalog);
  const entries = 80;
  const of = (at: number) => ({ method: 'eth_call', params: `[${at}]`, lasting: 1 });
  for (let at = 0; at < entries; at += 1)
    shared.keep('one', of(at), { result: `"${'a'.repeat(1_000_000)}"`, backend: 'b', finalizedBlock: 1 });
  const kept = Array.from({ length: entries }, (_, at) => shared.kept('one', of(at)) !== undefined);
  expect([kept[0], kept.at(-1)]).toEqual([false, true]);
  expect(kept.filter(Boolean).length * 1_000_000).toBeLessThan(67_108_864);
});
