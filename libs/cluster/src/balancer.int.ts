import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Balancer } from './balancer.js';

class Process {
  isReady = true;
  requests = 0;
  /** Responses whose client disconnected. */
  cut = 0;
  private readonly server: Server;

  constructor(reply: (response: ServerResponse, request: IncomingMessage) => void) {
    this.server = createServer((request, response) => {
      this.requests += 1;
      response.once('close', () => {
        if (!response.writableFinished) this.cut += 1;
      });
      reply(response, request);
    });
  }

  async listen(): Promise<this> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve));
  }
}

const responding =
  (text: string) =>
  (response: ServerResponse): void =>
    void response.end(text);

let processes: Process[];
let balancer: Balancer;

async function balance(...made: readonly Process[]): Promise<void> {
  for (const each of made) processes.push(await each.listen());
  // The ports stay known after a process has gone.
  const targets = processes.map((each) => {
    const { port } = each;
    return {
      place: { port },
      get isReady() {
        return each.isReady;
      },
    };
  });
  balancer = await Balancer.listen(targets, { host: '127.0.0.1', port: 0 });
}

/** One response over a separate connection. */
async function send(body = ''): Promise<string> {
  const response = await fetch(balancer.url, {
    method: 'POST',
    headers: { connection: 'close' },
    body,
  });
  return response.text();
}

const send20 = (): Promise<string[]> => Promise.all(Array.from({ length: 20 }, () => send()));

describe('Balancer', () => {
  beforeEach(() => {
    processes = [];
  });
  afterEach(async () => {
    balancer.close();
    for (const each of processes) await each.stop();
  });

  it('distributes open connections evenly', async () => {
    await balance(new Process(() => undefined), new Process(() => undefined), new Process(() => undefined));
    const sockets = Array.from({ length: 9 }, () =>
      connect(Number(new URL(balancer.url).port), '127.0.0.1').on('error', () => undefined),
    );
    for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => processes.map(({ requests }) => requests)).toEqual([3, 3, 3]);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => processes.map(({ cut }) => cut)).toEqual([3, 3, 3]);
  });

  it('reaches a process although its own event loop was busy for longer than a connection may take', async () => {
    const one = await new Process(responding('one')).listen();
    processes.push(one);
    const block = (): void => {
      const endMs = performance.now() + 1_500;
      while (performance.now() < endMs);
    };
    const target = {
      place: { port: one.port },
      get isReady() {
        process.nextTick(block);
        return true;
      },
    };
    balancer = await Balancer.listen([target], { host: '127.0.0.1', port: 0 });
    expect(await send()).toBe('one');
  });

  it('closes the connection to a Unix socket when its client disconnects', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-balancer-'));
    const path = join(folder, 'a.sock');
    const left = new Promise<void>((resolve) => {
      const server = createServer((_request, response) => {
        response.write('begun');
        response.once('close', () => {
          server.close();
          resolve();
        });
      }).listen(path);
    });
    await expect.poll(() => existsSync(path)).toBe(true);
    balancer = await Balancer.listen([{ place: { path }, isReady: true }], { host: '127.0.0.1', port: 0 });
    const client = new AbortController();
    const response = await fetch(balancer.url, { signal: client.signal });
    await response.body?.getReader().read();
    client.abort();
    await left;
    await rm(folder, { recursive: true });
  });

  it('forwards bodies and responses of any size', async () => {
    await balance(new Process((response, request) => void request.pipe(response)));
    const body = 'é🙂'.repeat(2_000_000);
    expect((await send(body)) === body).toBe(true);
  });

  it('sends nothing to a process that is not ready, as long as another one is', async () => {
    const [resting, ready] = [new Process(responding('resting')), new Process(responding('ready'))];
    resting.isReady = false;
    await balance(resting, ready);
    expect(new Set(await send20())).toEqual(new Set(['ready']));
    ready.isReady = false;
    expect(await send20()).toHaveLength(20);
  });

  it('loses no connection when a process is gone', async () => {
    const [gone, there] = [new Process(responding('gone')), new Process(responding('there'))];
    await balance(gone, there);
    await gone.stop();
    expect(new Set(await send20())).toEqual(new Set(['there']));
  });

  it('retries an idempotent request at another process when one dies before its response', async () => {
    const dying = new Process((response) => void response.socket?.destroy());
    await balance(dying, new Process(responding('there')));
    for (let round = 0; round < 10; round += 1) {
      const response = await fetch(balancer.url, { headers: { connection: 'close' } });
      expect(await response.text()).toBe('there');
    }
    const requests = dying.requests;
    const posted = Array.from({ length: 10 }, () => send('once').catch(() => 'lost'));
    const lost = (await Promise.all(posted)).filter((text) => text === 'lost').length;
    expect(lost).toBe(dying.requests - requests);
  });

  it('names the client of each connection in a PROXY header, if configured', async () => {
    const received: string[] = [];
    const server = createTcpServer((socket) =>
      socket.on('error', () => undefined).on('data', (bytes) => received.push(bytes.toString())),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const target = { place: { port }, isReady: true };
    balancer = await Balancer.listen([target], { host: '127.0.0.1', port: 0, namesClients: true });
    const to = Number(new URL(balancer.url).port);
    const client = connect(to, '127.0.0.1').on('error', () => undefined);
    await once(client, 'connect');
    client.write('PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n');
    const own = `PROXY TCP4 127.0.0.1 127.0.0.1 ${client.localPort} ${to}\r\n`;
    await expect.poll(() => received.join('')).toBe(`${own}PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n`);
    client.destroy();
    server.close();
  });

  it("closes a client's connection when its process dies", async () => {
    const dying = new Process((response) => void response.write('begun'));
    await balance(dying);
    const response = await fetch(balancer.url);
    await dying.stop();
    await expect(response.text()).rejects.toThrow('terminated');
  });
});
