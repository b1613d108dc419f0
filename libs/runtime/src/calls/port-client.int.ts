import 'reflect-metadata';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Body, Controller, Module, Res } from '@nestjs/common';
import { Name, Nothing, PortCalls, type PortWire } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import type { FastifyReply } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Serves } from '../http/route.js';
import { InternalToken } from '../http/secrets.js';
import { RootLogger } from '../logging/logger.module.js';
import { createLogger } from '../logging/logging.js';
import { type Running, serve } from '../process/serve.js';
import { InternalClient } from './internal-client.js';
import { PortResponses } from './port-responses.js';
import { PortClient } from './port-client.js';

const TOKEN = 'internal-token-of-the-tests-of-the-runtime';
const logger = createLogger('silent');

/** The port under test. */
abstract class Echo {
  abstract say(word: string): Promise<string>;
  abstract wait(ms: number): Promise<void>;
  abstract count(): Promise<number>;
}

const WIRE: PortWire<Echo> = {
  say: { arguments: z.tuple([Name]), result: Name },
  wait: { arguments: z.tuple([z.int()]), result: Nothing },
  count: { arguments: z.tuple([]), result: z.int() },
};

let counted = 0;
let calls: number[] = [];

class LocalEcho extends Echo {
  override async say(word: string): Promise<string> {
    await Promise.resolve();
    if (word === 'problem') throw new Problem('INSUFFICIENT_BALANCE');
    if (word === 'bug') throw new TypeError('secret');
    return word;
  }
  override async wait(ms: number): Promise<void> {
    await sleep(ms);
  }
  override count(): Promise<number> {
    counted += 1;
    return Promise.resolve(counted);
  }
}

@Controller()
class EchoController {
  private readonly responses: PortResponses<Echo>;
  constructor(logged: RootLogger) {
    this.responses = new PortResponses(new LocalEcho(), WIRE, logged);
  }

  @Serves(routes.callHolds)
  calls(@Body() body: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    calls.push(body.calls.length);
    return this.responses.response(body, reply);
  }
}

@Module({
  controllers: [EchoController],
  providers: [{ provide: InternalToken, useFactory: () => new InternalToken(TOKEN) }],
})
class EchoModule {}

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  calls = [];
  counted = 0;
});

async function startEcho(): Promise<Running> {
  const running = await serve({
    module: EchoModule,
    logger,
    api: { host: '127.0.0.1', port: 0 },
    drainMs: 500,
  });
  ends.push(() => running.stop());
  return running;
}

function clientOf(url: string, token = TOKEN): InternalClient {
  const client = new InternalClient({ url, token });
  ends.push(() => client.close());
  return client;
}

const portAt = (url: string, deadlineMs = 20_000, token = TOKEN): Echo =>
  new PortClient(clientOf(url, token), WIRE, {
    path: routes.callHolds.path,
    deadlineMs,
    slowMs: { wait: deadlineMs },
    once: ['count'],
  }).port;

async function listen(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const unavailable = expect.objectContaining({ code: 'UNAVAILABLE' });

describe('a port over HTTP', () => {
  it('returns the result of each call, sending calls made together in few requests', async () => {
    const port = portAt((await startEcho()).apiUrl);
    const words = Array.from({ length: 1_000 }, (_, index) => `word ${index}`);
    expect(await Promise.all(words.map((word) => port.say(word)))).toEqual(words);
    expect(calls.length).toBeLessThan(20);
    expect(Math.max(...calls)).toBe(256);
  });

  it('returns problems as they are, and nothing but the code of an unexpected error', async () => {
    const port = portAt((await startEcho()).apiUrl);
    const [fine, problem, bug] = await Promise.allSettled(
      ['fine', 'problem', 'bug'].map((word) => port.say(word)),
    );
    expect(fine).toMatchObject({ value: 'fine' });
    expect(problem).toMatchObject({ reason: { code: 'INSUFFICIENT_BALANCE' } });
    expect(bug).toMatchObject({ reason: { code: 'UNKNOWN_ERROR' } });
    expect(String((bug as PromiseRejectedResult).reason)).not.toContain('secret');
  });

  it('rejects a wrong token, invalid arguments and an unknown method', async () => {
    const { apiUrl } = await startEcho();
    await expect(portAt(apiUrl, 20_000, 'x'.repeat(40)).say('a')).rejects.toEqual(unavailable);
    const ask = async (method: string, ...given: unknown[]): Promise<string> => {
      const body = JSON.stringify({ calls: [{ method, arguments: given }] });
      const { text } = await clientOf(apiUrl).ask({ path: routes.callHolds.path, body, deadlineMs: 20_000 });
      return text;
    };
    expect(await ask('say', 1)).toContain('INVALID_REQUEST');
    expect(await ask('say')).toContain('INVALID_REQUEST');
    expect(await ask('constructor')).toContain('INVALID_REQUEST');
  });

  it('does not let a slow call delay those in the same request', async () => {
    const { apiUrl } = await startEcho();
    const { port } = new PortClient<Echo>(clientOf(apiUrl), WIRE, {
      path: routes.callHolds.path,
      deadlineMs: 20_000,
    });
    let isOver = false;
    const slow = port.wait(1_500).then(() => (isOver = true));
    await port.say('quick');
    expect(isOver).toBe(false);
    await slow;
    expect(calls).toEqual([2]);
  });

  it('sends patient calls with the next ones, or after a short wait', async () => {
    const { apiUrl } = await startEcho();
    const { port } = new PortClient<Echo>(clientOf(apiUrl), WIRE, {
      path: routes.callHolds.path,
      deadlineMs: 20_000,
      patient: ['wait'],
    });
    // A busy machine may send some of them alone, but not all.
    for (let time = 0; time < 50; time += 1) {
      const waited = port.wait(0);
      await new Promise((resolve) => setImmediate(resolve));
      await Promise.all([port.say('now'), waited]);
    }
    expect(calls).toContain(2);
    calls = [];
    await port.wait(0);
    expect(calls).toEqual([1]);
  });

  it('returns the result of each call when they are many more than the connections', async () => {
    const { apiUrl } = await startEcho();
    const client = new InternalClient({ url: apiUrl, token: TOKEN, connections: 3 });
    ends.push(() => client.close());
    const options = { path: routes.callHolds.path, deadlineMs: 20_000, alone: true };
    const { port } = new PortClient<Echo>(client, WIRE, options);
    const words = Array.from({ length: 200 }, (_, at) => `wörd ${at} 🙂`);
    expect(await Promise.all(words.map((word) => port.say(word)))).toEqual(words);
    expect(calls.length).toBe(200);
  });

  it('gives up after its deadline', async () => {
    const { url } = await listen(() => undefined);
    await expect(portAt(url, 200).say('a')).rejects.toEqual(unavailable);
  });
});

describe('several replicas', () => {
  it('retry a call that one of them did not complete, but not one that must run once', async () => {
    let broken = 0;
    const { url } = await listen((request) => {
      broken += 1;
      request.socket.destroy();
    });
    const { apiUrl } = await startEcho();
    const port = portAt(`${url},${apiUrl}`);
    for (let time = 0; time < 4; time += 1) expect(await port.say('a')).toBe('a');
    expect(broken).toBeGreaterThan(0);
    const alone = portAt(url, 2_000);
    broken = 0;
    await expect(alone.count()).rejects.toEqual(unavailable);
    expect(broken).toBe(1);
    expect(counted).toBe(0);
  });

  it('keep serving while one of them hangs, which delays only the calls already sent to it', async () => {
    const { url } = await listen(() => undefined);
    const { apiUrl } = await startEcho();
    const port = portAt(`${url},${apiUrl}`, 2_000);
    const asking = Array.from({ length: 200 }, async (_, index) => {
      await sleep(2 * index);
      return port.say(String(index));
    });
    const ends = await Promise.allSettled(asking);
    expect(ends.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(100);
  });

  it('take over from one that stops, without losing a call', async () => {
    const [one, two] = [await startEcho(), await startEcho()];
    const port = portAt(`${one.apiUrl},${two.apiUrl}`);
    const asking = Array.from({ length: 400 }, async (_, index) => {
      await sleep(index);
      return port.say(String(index));
    });
    await sleep(100);
    await one.stop();
    expect(await Promise.all(asking)).toHaveLength(400);
  });
});
