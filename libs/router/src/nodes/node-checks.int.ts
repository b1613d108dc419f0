import { Catalog } from '@svc/catalog';
import { CatalogFile } from '@svc/contracts/catalog';
import type { Served } from '@svc/contracts/inference';
import { createLogger } from '@svc/runtime';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TestBackend } from '../../test/backend.js';
import { catalogFile, eventually, quickRouter } from '../../test/routing.js';
import type { CheckTimes } from './node-checks.js';

interface Sent {
  readonly id: unknown;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** Whether a call is for the last final block rather than the latest one. */
const isForFinal = ({ method, params: [first] = [] }: Sent): boolean =>
  method === 'eth_getBlockByNumber' ||
  (first as { commitment?: string } | undefined)?.commitment === 'finalized';

/** A node with a chain and a latest block, which the checks ask for; `undefined`: it does not respond. */
class TestNode {
  head: unknown = '0x64';
  /** Its last final block. */
  final: unknown = null;
  /** The methods of calls that are not checks. */
  readonly called: string[] = [];
  checks = 0;

  private constructor(
    readonly backend: TestBackend,
    public chain: unknown,
  ) {}

  static async start(chain: unknown): Promise<TestNode> {
    const backend = await TestBackend.start((response, { body }) => {
      const sent = JSON.parse(body) as Sent;
      const { id, method } = sent;
      const isCheck = id === 'check';
      if (isCheck) node.checks += 1;
      else node.called.push(method);
      const ofBlock = isForFinal(sent) ? node.final : node.head;
      const checked = /chainId|getGenesisHash/i.test(method) ? node.chain : ofBlock;
      const result = isCheck ? checked : method;
      if (result !== undefined) response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
    const node = new TestNode(backend, chain);
    nodes.push(node);
    return node;
  }
}

const nodes: TestNode[] = [];
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  for (const { backend } of nodes.splice(0)) await backend.close();
});

/** Checks at once and often, or only when they are needed. */
const OFTEN: CheckTimes = { tickMs: 20, chainMs: 20, trafficMs: 60_000 };
const RARELY: CheckTimes = { tickMs: 3_600_000, chainMs: 3_600_000, trafficMs: 60_000 };

/** A router of one network, whose nodes are called in this order. */
function started(
  network: object,
  { times, urls }: { readonly times: CheckTimes; readonly urls: readonly string[] },
) {
  const entries = urls.map((url, at) => ({ name: `node-${at}`, url, weight: 1e-9 ** at }));
  const networks = { local: { family: 'evm', nodes: entries, ...network } };
  const file = catalogFile({ id: 'm', backends: [{ url: 'http://127.0.0.1:1', model: 'm' }] });
  const catalog = new Catalog(CatalogFile.parse({ ...file, cryptoRpc: { networks } }));
  const errors: unknown[] = [];
  const log = createLogger('silent');
  log.error = (fields: unknown) => void errors.push(fields);
  const { router, stop } = quickRouter(catalog, { log, times });
  stops.push(stop);
  const complete = (isSend = false): Promise<Served<string>> => {
    const body = [Buffer.from('{"jsonrpc":"2.0","id":0,"method":"x"}')];
    const request = { requestId: 'r', accountId: 'a', network: 'local', body, isSend };
    return router.nodes.call(request, new AbortController().signal);
  };
  const call = async (isSend = false): Promise<string> => (await complete(isSend)).backend;
  const finalized = async (): Promise<number | undefined> => (await complete()).finalizedBlock;
  return { call, finalized, catalog, errors };
}

const SOLANA = 'So1111111111111111111111111111111111111111';

const urlsOf = (...all: readonly TestNode[]): string[] => all.map(({ backend }) => backend.url);

describe('the chain of a node', () => {
  it('is checked before its first call: a node of another chain is never called, and logged once', async () => {
    const [wrong, right] = [await TestNode.start('0x1'), await TestNode.start('0x2105')];
    const { call, errors } = started({ chainId: 8_453 }, { times: OFTEN, urls: urlsOf(wrong, right) });
    expect([await call(), await call(true)]).toEqual(['node-1', 'node-1']);
    await eventually('it is checked again', () => wrong.checks > 3);
    expect(await call()).toBe('node-1');
    expect(wrong.called).toEqual([]);
    expect(errors).toEqual([{ network: 'local', backend: 'node-0', expected: '8453', found: '1' }]);
  });

  it('is checked again and again: a node is left when it changes, and used when it is right', async () => {
    const node = await TestNode.start('0x2105');
    const { call } = started({ chainId: 8_453 }, { times: OFTEN, urls: urlsOf(node) });
    expect(await call()).toBe('node-0');
    const refused = (): Promise<boolean> =>
      call().then(
        () => false,
        (error: { code: string }) => error.code === 'MODEL_OFFLINE',
      );
    node.chain = '0x1';
    await eventually('it is left', refused);
    node.chain = '0x2105';
    await eventually('it is used', async () => !(await refused()));
    expect(await call()).toBe('node-0');
  });

  it('is waited for at the first call, but only until one node is right', async () => {
    const [silent, right] = [await TestNode.start(undefined), await TestNode.start('0x2105')];
    const { call } = started({ chainId: 8_453 }, { times: RARELY, urls: urlsOf(silent, right) });
    expect(await call()).toBe('node-1');
    expect(silent.called).toEqual([]);
  });

  it('must be known: a node that reports something else is not called', async () => {
    for (const chain of ['', '8453', 8_453, null, {}, '0x', `0x${'1'.repeat(65)}`]) {
      const node = await TestNode.start(chain);
      const { call } = started({ chainId: 8_453 }, { times: RARELY, urls: urlsOf(node) });
      await expect(call()).rejects.toMatchObject({ code: 'MODEL_OFFLINE' });
      expect(node.called).toEqual([]);
    }
  });

  it('is checked for the new number after a change of the catalogue', async () => {
    const node = await TestNode.start('0x2105');
    const { call, catalog } = started({ chainId: 8_453 }, { times: RARELY, urls: urlsOf(node) });
    expect(await call()).toBe('node-0');
    const file = catalogFile({ id: 'm', backends: [{ url: 'http://127.0.0.1:1', model: 'm' }] });
    const networks = { local: { family: 'evm', chainId: 1, nodes: [{ url: node.backend.url }] } };
    catalog.replace(CatalogFile.parse({ ...file, cryptoRpc: { networks } }));
    await expect(call()).rejects.toMatchObject({ code: 'MODEL_OFFLINE' });
  });

  it.each([
    { family: 'evm', chainId: 255, same: '0x0FF', other: '0x100' },
    { family: 'solana', chainId: `${SOLANA}2`, same: `${SOLANA}2`, other: `${SOLANA}3` },
    {
      family: 'starknet',
      chainId: '0x534e5f4d41494e',
      same: '0x0534E5F4D41494E',
      other: '0x534e5f5345504f4c4941',
    },
  ])('is compared in the notation of the family $family', async ({ same, other, ...network }) => {
    const [wrong, right] = [await TestNode.start(other), await TestNode.start(same)];
    const { call } = started(network, { times: RARELY, urls: urlsOf(wrong, right) });
    expect(await call()).toBe('node-1');
    expect(wrong.called).toEqual([]);
  });

  it('is not checked if the catalogue has none', async () => {
    const node = await TestNode.start(undefined);
    const { call } = started({}, { times: RARELY, urls: urlsOf(node) });
    expect(await call()).toBe('node-0');
    expect(node.checks).toBe(0);
  });
});

/** Waits for a comparison that began after now. Each has two calls of each node. */
async function compared(...of: readonly TestNode[]): Promise<void> {
  const before = of.map(({ checks }) => checks);
  await eventually('they are compared', () => of.every(({ checks }, at) => checks > (before[at] ?? 0) + 9));
}

describe('a node that is behind', () => {
  async function two(network: object = {}) {
    const [late, fresh] = [await TestNode.start('0x1'), await TestNode.start('0x1')];
    const system = started(network, { times: OFTEN, urls: urlsOf(late, fresh) });
    expect(await system.call()).toBe('node-0');
    return { ...system, late, fresh };
  }

  it('is called last for reads, and in its turn for sends', async () => {
    const system = await two({ maxLagBlocks: 5 });
    system.fresh.head = '0x6a';
    await compared(system.late, system.fresh);
    expect([await system.call(), await system.call(true)]).toEqual(['node-1', 'node-0']);
    system.late.head = '0x65';
    await compared(system.late, system.fresh);
    expect(await system.call()).toBe('node-0');
  });

  it('is called if the others fail', async () => {
    const system = await two({ maxLagBlocks: 5 });
    system.fresh.head = '0x6a';
    await compared(system.late, system.fresh);
    await system.fresh.backend.close();
    expect(await system.call()).toBe('node-0');
  });

  it('may be 10 blocks behind by default, and 150 slots on Solana', async () => {
    const evm = await two();
    evm.fresh.head = '0x6e';
    await compared(evm.late, evm.fresh);
    expect(await evm.call()).toBe('node-0');
    evm.fresh.head = '0x6f';
    await compared(evm.late, evm.fresh);
    expect(await evm.call()).toBe('node-1');
    const solana = await two({ family: 'solana' });
    Object.assign(solana.late, { head: 1_000 });
    Object.assign(solana.fresh, { head: 1_150 });
    await compared(solana.late, solana.fresh);
    expect(await solana.call()).toBe('node-0');
    solana.fresh.head = 1_151;
    await compared(solana.late, solana.fresh);
    expect(await solana.call()).toBe('node-1');
  });

  it.each(['0x', -1, 2 ** 60, '0xffffffffffffffffff', null, 'many'])(
    'is not one because another claims the block %s',
    async (head) => {
      const system = await two();
      system.fresh.head = head;
      await compared(system.late, system.fresh);
      expect(await system.call()).toBe('node-0');
    },
  );
});

it('nodes of a network without requests are not compared', async () => {
  const [first, second] = [await TestNode.start('0x1'), await TestNode.start('0x1')];
  const times = { ...OFTEN, trafficMs: 0 };
  const { call } = started({}, { times, urls: urlsOf(first, second) });
  await call();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect([first.checks, second.checks]).toEqual([0, 0]);
});

describe('the last block that is final', () => {
  const block = (number: string): object => ({ number, hash: '0xa', transactions: [] });

  async function system(network: object, ...finals: readonly unknown[]) {
    const all = await Promise.all(finals.map(() => TestNode.start('0x1')));
    for (const [at, node] of all.entries()) node.final = finals[at];
    const { call, finalized } = started(network, { times: OFTEN, urls: urlsOf(...all) });
    await call();
    await compared(...all);
    return { all, finalized };
  }

  it('is that of the only node, and goes on with it', async () => {
    const { all, finalized } = await system({}, block('0x10'));
    expect(await finalized()).toBe(16);
    for (const node of all) node.final = block('0x11');
    await compared(...all);
    expect(await finalized()).toBe(17);
  });

  it('is the lowest of all nodes, so one that lies does not raise it', async () => {
    const { finalized } = await system({}, block('0xfffffff'), block('0x10'));
    expect(await finalized()).toBe(16);
  });

  it('is not after the latest block of any node', async () => {
    const { finalized } = await system({}, block('0xfffffff'));
    expect(await finalized()).toBe(100);
  });

  it.each([null, '0x10', {}, { number: null }, { number: 'many' }])(
    'is not known if a node says %j of it',
    async (final) => {
      const { finalized } = await system({}, block('0x10'), final);
      expect(await finalized()).toBeUndefined();
    },
  );

  it('is not known with the response of a node that does not take part in the comparison', async () => {
    const [first, second] = [await TestNode.start('0x1'), await TestNode.start('0x1')];
    Object.assign(first, { head: null, final: block('0x10') });
    second.final = block('0x10');
    const { call, finalized } = started({}, { times: OFTEN, urls: urlsOf(first, second) });
    await call();
    await compared(second);
    expect(await finalized()).toBeUndefined();
    await first.backend.close();
    expect(await finalized()).toBe(16);
  });

  it('is a slot on Solana, and not known on Starknet', async () => {
    const solana = await system({ family: 'solana' }, 90);
    expect(await solana.finalized()).toBe(90);
    const starknet = await system({ family: 'starknet' }, block('0x10'));
    expect(await starknet.finalized()).toBeUndefined();
  });
});

it('a node that sends a byte a second is left after 10 s, and the next one is called', async () => {
  const dripping = Promise.withResolvers<(byte: string) => void>();
  const slow = await TestBackend.start((response) => dripping.resolve((byte) => void response.write(byte)));
  stops.push(() => slow.close());
  const next = await TestNode.start(undefined);
  const { call } = started({}, { times: RARELY, urls: [slow.url, next.backend.url] });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const found = call();
    const send = await dripping.promise;
    for (let second = 1; second <= 10; second += 1) {
      send('[');
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
      expect(next.called).toEqual([]);
      vi.advanceTimersByTime(1_000);
    }
    expect(await found).toBe('node-1');
  } finally {
    vi.useRealTimers();
  }
});
