import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Module } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import type { RouteDefinition } from '@svc/api/route';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { METRICS } from '../../test/process-harness.js';
import { AccessGates, type GatedAccess } from '../http/access.js';
import { Serves } from '../http/route.js';
import { SharedSecret } from '../http/secrets.js';
import { createLogger } from '../logging/logging.js';
import { type Running, serve } from './serve.js';

const WORK = {
  method: 'GET',
  path: '/api/work',
  access: 'public',
  operationId: 'x',
  tag: 'Models',
  summary: 'x',
  status: 200,
  reply: z.unknown(),
  refusals: [],
} as const satisfies RouteDefinition;

let work: PromiseWithResolvers<object>;
let closing: PromiseWithResolvers<void>;
let isClosing = false;
let running: Running;

@Controller()
class Works {
  @Serves(WORK)
  work(): Promise<object> {
    return work.promise;
  }
}

class OpenGates implements AccessGates {
  enter(access: GatedAccess): boolean {
    if (access !== 'public') throw new Problem('AUTHENTICATION_FAILED');
    return true;
  }
}

/** A part that takes its time to close, after the process has stopped serving. */
class SlowPart {
  onApplicationShutdown(): Promise<void> {
    isClosing = true;
    return closing.promise;
  }
}

@Module({ controllers: [Works], providers: [SlowPart, { provide: AccessGates, useClass: OpenGates }] })
class WorkModule {}

beforeEach(async () => {
  work = Promise.withResolvers();
  closing = Promise.withResolvers();
  isClosing = false;
  const local = { host: '127.0.0.1', port: 0 };
  running = await serve({
    module: WorkModule,
    logger: createLogger('silent'),
    api: local,
    operator: local,
    metricsToken: new SharedSecret(METRICS),
  });
});
afterEach(async () => {
  work.resolve({});
  closing.resolve();
  await running.stop();
});

/** On a connection of its own; `closed` if it ends without a response, as balancers expect. */
function statusOf(url: string, { token = '', method = 'GET' } = {}): Promise<number | string> {
  const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve) => {
    request(url, { agent: false, headers, method }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    })
      .on('error', ({ message }) => resolve(message === 'socket hang up' ? 'closed' : message))
      .end();
  });
}

/** What new connections get from both ports. */
async function seen(): Promise<object> {
  const { apiUrl, operatorUrl = '' } = running;
  return {
    healthz: [await statusOf(`${apiUrl}/healthz`), await statusOf(`${operatorUrl}/healthz`)],
    readyz: [await statusOf(`${apiUrl}/readyz`), await statusOf(`${operatorUrl}/readyz`)],
    metrics: [
      await statusOf(`${operatorUrl}/metrics`, { token: METRICS }),
      await statusOf(`${operatorUrl}/metrics`),
    ],
    read: await statusOf(`${apiUrl}${WORK.path}`),
    unknown: await statusOf(`${apiUrl}/api/unknown`),
    write: await statusOf(`${apiUrl}${WORK.path}`, { method: 'POST' }),
  };
}

const PROBES_ONLY = {
  healthz: [200, 200],
  readyz: [503, 503],
  metrics: [200, 401],
  read: 'closed',
  unknown: 'closed',
  write: 503,
};

describe('a process that stops', () => {
  it('answers probes and scrapes while it drains and closes, does no new work, and finishes the old', async () => {
    const response = fetch(`${running.apiUrl}${WORK.path}`);
    // The request is under way.
    await sleep(100);
    const finished = running.finish();
    await expect.poll(() => statusOf(`${running.apiUrl}/api/unknown`), { timeout: 20_000 }).toBe('closed');
    expect(await seen()).toEqual(PROBES_ONLY);

    work.resolve({ is: 'done' });
    expect(await (await response).json()).toEqual({ is: 'done' });
    await expect.poll(() => isClosing, { timeout: 20_000 }).toBe(true);
    expect(await seen()).toEqual(PROBES_ONLY);

    closing.resolve();
    await finished;
    expect(await seen()).toEqual(PROBES_ONLY);
  });

  it('serves the first request of a connection that was open before, and closes one that sends none', async () => {
    const port = Number(new URL(running.apiUrl).port);
    const [late, silent] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await Promise.all([once(late, 'connect'), once(silent, 'connect')]);
    // They are accepted once another one is served.
    await statusOf(`${running.apiUrl}/healthz`);
    const finished = running.finish();
    // Several sweeps.
    await sleep(300);
    late.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(await text(late)).toContain('HTTP/1.1 200 OK');
    expect(await text(silent)).toBe('');
    closing.resolve();
    await finished;
  });

  it('loses no response: neither of a new connection nor of a client that reads slowly', async () => {
    const response = fetch(`${running.apiUrl}${WORK.path}`);
    const slow = connect(Number(new URL(running.apiUrl).port), '127.0.0.1').pause();
    slow.write(`GET ${WORK.path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await sleep(100);
    const finished = running.finish();
    await expect.poll(() => statusOf(`${running.apiUrl}/api/unknown`), { timeout: 20_000 }).toBe('closed');
    const probes: unknown[] = [];
    for (let count = 0; count < 500; count += 1) probes.push(await statusOf(`${running.apiUrl}/healthz`));
    expect(probes.filter((status) => status !== 200)).toEqual([]);

    const long = 'x'.repeat(20_000_000);
    work.resolve({ long });
    expect(await (await response).json()).toEqual({ long });
    // Several sweeps.
    await sleep(300);
    let read = 0;
    for await (const part of slow) read += (part as Buffer).length;
    expect(read).toBeGreaterThan(long.length);
    closing.resolve();
    await finished;
  });
});
