import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { type Simulator, startSimulator } from '@svc/simulator';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Platform, type TestAccount } from '../platform.js';
import { chunksOf } from '../response-bodies.js';

const TEST = { timeout: 120_000 };
const SERVERS = 8;
const MODELS = ['killed', 'hung', 'slow', 'failing'] as const;

let servers: Simulator[];
let hanging: Hanging;
let platform: Platform;
let account: TestAccount;

/** Accepts connections, and never answers. */
class Hanging {
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((socket) => {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
  });

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}

beforeAll(async () => {
  hanging = new Hanging();
  await hanging.start();
  servers = await Promise.all(Array.from({ length: SERVERS }, () => startSimulator({ port: 0, ttftMs: 20 })));
  const urls = servers.map(({ url }) => url);
  const models = MODELS.map((id) => ({
    id,
    backends: (id === 'hung' ? [hanging.url, ...urls.slice(1)] : urls).map((url) => ({
      url: `${url}/v1`,
      model: id,
    })),
  }));
  platform = await Platform.start({ models, env: { ROUTER_CHECK_MS: '1000' } });
  account = await platform.account('1000.00');
});
afterAll(async () => {
  await platform?.stop();
  hanging.close();
  for (const server of servers) await server.close();
});
afterEach(() => {
  for (const server of servers) server.setFaults({});
});

/** Streams, a few at a time. Each must be complete. */
async function load(model: string, count: number, atOnce: number): Promise<number> {
  let left = count;
  let complete = 0;
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const messages = [{ role: 'user', content: `Question ${left}` }];
      const response = await platform.chat(account.apiKey, { model, messages, stream: true });
      expect(response.status).toBe(200);
      expect((await chunksOf(response)).done).toBe(true);
      complete += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return complete;
}

interface Row {
  readonly model: string;
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly firstTokenP50Ms: number | null;
}

async function firstOf(model: string): Promise<Row | undefined> {
  const { body } = await platform.operator('GET', '/backends');
  return (body['data'] as Row[]).find((row) => row.model === model && row.name === 'backend-1');
}

const isOut = (model: string) => async () => {
  await load(model, 40, 8);
  return (await firstOf(model))?.state;
};

describe('of eight backends, no request fails before its first byte although one', () => {
  it('accepts and never answers', TEST, async () => {
    await load('hung', 200, 8);
    await expect.poll(isOut('hung'), { timeout: 60_000 }).toBe('cooling');
    expect((await firstOf('hung'))?.reason).toContain('Its check gets no response');
  });

  it('fails half of its requests', TEST, async () => {
    await load('failing', 40, 8);
    servers[0]?.setFaults({ faults: ['500'] }, 20);
    expect(await load('failing', 400, 8)).toBe(400);
  });

  it('becomes much slower', TEST, async () => {
    servers[0]?.setFaults({ ttftMs: 1_500 });
    await load('slow', 200, 16);
    expect((await firstOf('slow'))?.firstTokenP50Ms).toBeGreaterThan(0);
  });

  it('is killed', TEST, async () => {
    await load('killed', 40, 8);
    const loading = load('killed', 400, 8);
    await servers[0]?.close();
    servers.shift();
    await loading;
    await expect.poll(isOut('killed'), { timeout: 60_000 }).toBe('cooling');
  });
});
