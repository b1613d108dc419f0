import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { scrapedMetrics } from '@svc/telemetry';
import { RunningProcess } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ExchangeAborted } from './exchange.js';
import {
  type InternalCall,
  InternalClient,
  NeighbourUnavailable,
  STOPPING_HEADER,
} from './internal-client.js';

type Reply = (response: ServerResponse, request: IncomingMessage) => void;

/** Far longer than a response takes on any machine. */
const DEADLINE_MS = 60_000;

const CALL: InternalCall = { path: '/internal/v1/x', body: '{}', deadlineMs: DEADLINE_MS };

const answering: Reply = (response) => void response.end('{"done":true}');
const silent: Reply = () => undefined;
const breaking: Reply = (response) => void response.socket?.destroy();
const stopping: Reply = (response) =>
  void response.writeHead(503, { [STOPPING_HEADER]: 'true' }).end('{"code":"UNAVAILABLE"}');

class Neighbour {
  readonly requests: IncomingMessage[] = [];
  /** Calls whose connection ended before their response. */
  cut = 0;

  private constructor(
    private readonly server: Server,
    public reply: Reply,
  ) {}

  static async start(reply: Reply): Promise<Neighbour> {
    const server = createServer((request, response) => {
      if (request.url === '/healthz') {
        response.end();
        return;
      }
      neighbour.requests.push(request);
      response.once('close', () => {
        if (!response.writableFinished) neighbour.cut += 1;
      });
      neighbour.reply(response, request);
    });
    const neighbour = new Neighbour(server, reply);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return neighbour;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve));
  }
}

let neighbours: Neighbour[];
let client: InternalClient;

async function given(...replies: readonly Reply[]): Promise<Neighbour[]> {
  for (const reply of replies) neighbours.push(await Neighbour.start(reply));
  client = new InternalClient({ url: neighbours.map(({ url }) => url).join(', '), token: 'a token' });
  return neighbours;
}

const failureOf = (pending: Promise<unknown>): Promise<unknown> => pending.catch((error: unknown) => error);

const repeatedly = (times: number, call: Partial<InternalCall> = {}): Promise<unknown[]> =>
  Promise.all(Array.from({ length: times }, () => client.ask({ ...CALL, ...call })));

/** What the metric of the calls that wait for a connection reports. */
const queued = (neighbour: Neighbour | undefined): string | undefined => {
  const address = new URL(neighbour?.url ?? '').host;
  const line = scrapedMetrics()
    .text.split('\n')
    .find((each) => each.includes(`"${address}"`) && each.includes('"queued"'));
  return line?.split(' ').at(-1);
};

describe('InternalClient', () => {
  beforeEach(() => {
    neighbours = [];
  });
  afterEach(async () => {
    await client.close();
    for (const neighbour of neighbours) await neighbour.close();
  });

  it('sends the token, and returns the response whatever its status', async () => {
    const [one] = await given((response) => void response.writeHead(409, { 'x-y': 'z' }).end('no'));
    const answer = await client.ask({ ...CALL, headers: { 'x-id': '1' } });
    expect(answer).toMatchObject({ status: 409, text: 'no', headers: { 'x-y': 'z' } });
    expect(one?.requests[0]?.headers).toMatchObject({ authorization: 'Bearer a token', 'x-id': '1' });
  });

  it('calls the least busy address', async () => {
    await given(silent, silent, silent);
    for (let call = 0; call < 9; call += 1) void failureOf(client.ask(CALL));
    await expect.poll(() => neighbours.map(({ requests }) => requests.length)).toEqual([3, 3, 3]);
  });

  it('calls the same address for the same key, and different ones for different keys', async () => {
    await given(answering, answering, answering);
    for (let at = 0; at < 40; at += 1) await client.ask({ ...CALL, key: `key ${at}`, body: `${at}` });
    const before = neighbours.map(({ requests }) => requests.length);
    expect(Math.min(...before)).toBeGreaterThan(0);
    for (let at = 0; at < 40; at += 1) await client.ask({ ...CALL, key: `key ${at}`, body: `${at}` });
    expect(neighbours.map(({ requests }) => requests.length)).toEqual(before.map((count) => 2 * count));
  });

  it('calls others than the address of a key when that is far busier, or gone', async () => {
    await given(silent, silent, silent);
    for (let call = 0; call < 90; call += 1) void failureOf(client.ask({ ...CALL, key: 'key' }));
    const counts = (): number[] =>
      neighbours.map(({ requests }) => requests.length).toSorted((a, b) => b - a);
    await expect.poll(() => counts().reduce((sum, count) => sum + count, 0)).toBe(90);
    expect(counts()[0]).toBeLessThan(65);
    expect(counts()[1]).toBeGreaterThan(0);
    const preferred = neighbours.find(({ requests }) => requests.length === counts()[0]);
    await preferred?.close();
    for (const each of neighbours) each.reply = answering;
    await client.ask({ ...CALL, key: 'key', idempotent: true });
    expect(counts().reduce((sum, count) => sum + count, 0)).toBeGreaterThan(90);
  });

  it('skips an address that refuses connections, without losing a call', async () => {
    const [one, other] = await given(answering, answering);
    await one?.close();
    expect(await repeatedly(50)).toHaveLength(50);
    expect(other?.requests.length).toBe(50);
  });

  it('reports that nothing was done when no address accepts connections', async () => {
    await given(answering);
    await neighbours[0]?.close();
    const failure = await failureOf(client.ask(CALL));
    expect(failure).toBeInstanceOf(NeighbourUnavailable);
    expect(failure).toMatchObject({ isUndone: true });
  });

  it('calls another process when one is stopping, even if the call is not idempotent', async () => {
    const [one, other] = await given(stopping, stopping);
    if (other) other.reply = answering;
    for (let call = 0; call < 10; call += 1) expect(await client.ask(CALL)).toMatchObject({ status: 200 });
    expect(one?.requests.length).toBeGreaterThan(0);
  });

  it('retries only idempotent calls after a broken connection', async () => {
    const [one] = await given(breaking);
    expect(await failureOf(client.ask(CALL))).toMatchObject({ isUndone: false });
    expect(one?.requests.length).toBe(1);
    if (one) {
      one.reply = (response, request) => {
        one.reply = answering;
        breaking(response, request);
      };
    }
    expect(await client.ask({ ...CALL, idempotent: true })).toMatchObject({ status: 200 });
    expect(one?.requests.length).toBe(3);
  });

  it('repeats only idempotent calls when a kept connection is closed as they arrive', async () => {
    const [one] = await given(answering);
    const breakOnce = (): void => {
      if (!one) return;
      one.reply = (response, request) => {
        one.reply = answering;
        breaking(response, request);
      };
    };
    await client.ask(CALL);
    breakOnce();
    expect(await failureOf(client.ask(CALL))).toMatchObject({
      isUndone: false,
      cause: { code: 'UND_ERR_SOCKET' },
    });
    expect(one?.requests.length).toBe(2);
    await client.ask(CALL);
    breakOnce();
    expect(await client.ask({ ...CALL, idempotent: true })).toMatchObject({ status: 200 });
    expect(one?.requests.length).toBe(5);
  });

  it('lets calls beyond its connections wait, which is reported, and no call after its caller left', async () => {
    const held: ServerResponse[] = [];
    const [one] = await given((response) => void held.push(response));
    await client.close();
    client = new InternalClient({ url: one?.url ?? '', token: 'a token', connections: 1 });
    const first = client.ask({ ...CALL, path: '/first' });
    await expect.poll(() => held.length).toBe(1);
    const leaving = new AbortController();
    const left = failureOf(client.ask({ ...CALL, path: '/left', signal: leaving.signal, idempotent: true }));
    const late = failureOf(client.ask({ ...CALL, path: '/late', deadlineMs: 1, idempotent: true }));
    const last = client.ask({ ...CALL, path: '/last' });
    expect(queued(one)).toBe('3');
    leaving.abort();
    expect(await left).toBeInstanceOf(ExchangeAborted);
    expect(await late).toMatchObject({ cause: { name: 'ExchangeTimedOut' } });
    expect(queued(one)).toBe('1');
    held[0]?.end('1');
    await expect.poll(() => held.length).toBe(2);
    held[1]?.end('2');
    expect([(await first).text, (await last).text]).toEqual(['1', '2']);
    expect(one?.requests.map(({ url }) => url)).toEqual(['/first', '/last']);
    expect(queued(one)).toBe('0');
  });

  it('fails calls that wait when it is closed', async () => {
    const [one] = await given(silent);
    await client.close();
    client = new InternalClient({ url: one?.url ?? '', token: 'a token', connections: 1 });
    const pending = [1, 2, 3].map(() => failureOf(client.ask(CALL)));
    await expect.poll(() => one?.requests.length).toBe(1);
    await client.close();
    for (const each of pending) expect(await each).toBeInstanceOf(NeighbourUnavailable);
    expect(one?.requests.length).toBe(1);
  });

  it('gives up at the deadline and closes the connection', async () => {
    const [one] = await given(silent);
    expect(await failureOf(client.ask({ ...CALL, deadlineMs: 50 }))).toBeInstanceOf(NeighbourUnavailable);
    await expect.poll(() => one?.cut).toBe(1);
  });

  it('closes the connection on abort, without counting a failure', async () => {
    const [one] = await given(silent);
    const leaving = new AbortController();
    const pending = failureOf(client.ask({ ...CALL, signal: leaving.signal, idempotent: true }));
    await expect.poll(() => one?.requests.length).toBe(1);
    leaving.abort();
    expect(await pending).toBeInstanceOf(ExchangeAborted);
    await expect.poll(() => one?.cut).toBe(1);
    expect(one?.requests.length).toBe(1);
  });
});

const PROGRAM = fileURLToPath(new URL('../../test/neighbour-program.mjs', import.meta.url));

describe('InternalClient with a neighbour that hangs', () => {
  let processes: [RunningProcess, RunningProcess];

  beforeEach(async () => {
    const started = await Promise.all(
      [0, 1].map(() => RunningProcess.start({ main: PROGRAM, env: {} }, /listens on (\d+)/)),
    );
    const [one, other] = started.map(({ service }) => service);
    if (!one || !other) throw new Error('two were started');
    processes = [one, other];
    const url = started.map(({ match }) => `http://127.0.0.1:${match[1]}`).join(',');
    client = new InternalClient({ url, token: 'a token' });
  });
  afterEach(async () => {
    await client.close();
    await Promise.all(processes.map((each) => each.stop('SIGKILL')));
  });

  const answeredBy = async (): Promise<number> =>
    Number((await client.ask({ ...CALL, idempotent: true })).text);
  const both = (): Set<number> => new Set(processes.map(({ pid }) => pid));

  /** Resolves once both processes have responded. */
  async function answeredByBoth(): Promise<void> {
    const missing = both();
    const called = async (): Promise<boolean> => missing.delete(await answeredBy()) && missing.size === 0;
    await expect.poll(called, { timeout: 30_000 }).toBe(true);
  }

  it('moves new calls and pending ones to the other process', async () => {
    await answeredByBoth();
    const [hung, other] = processes;
    hung.signal('SIGSTOP');
    const answers = await Promise.all(Array.from({ length: 20 }, answeredBy));
    expect(new Set(answers)).toEqual(new Set([other.pid]));
    for (let call = 0; call < 20; call += 1) expect(await answeredBy()).toBe(other.pid);
    hung.signal('SIGCONT');
    await answeredByBoth();
  });

  it('does not move a call that is not idempotent, or when no other process responds', async () => {
    await answeredByBoth();
    for (const each of processes) each.signal('SIGSTOP');
    const all = Promise.all(Array.from({ length: 4 }, answeredBy));
    // By now both have missed heartbeats on an idle machine; on a busy one the test proves less, but still
    // passes.
    await sleep(4_000);
    for (const each of processes) each.signal('SIGCONT');
    // The first that responds again may take the calls of the other.
    expect(both()).toEqual(new Set([...both(), ...(await all)]));
    await answeredByBoth();
    const [hung] = processes;
    hung.signal('SIGSTOP');
    const once = Promise.all([client.ask(CALL), client.ask(CALL)]);
    await sleep(4_000);
    hung.signal('SIGCONT');
    expect(new Set((await once).map(({ text }) => Number(text)))).toEqual(both());
  });
});
