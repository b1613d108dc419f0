import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type DynamicModule, Module } from '@nestjs/common';
import { MediaJobs } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { InternalToken, type Running, createLogger, serve } from '@svc/runtime';
import { TestServer } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { mediaJobsConformance } from '../../test/media-jobs.conformance.js';
import { HttpMediaJobs } from './http-media-jobs.js';
import { MediaJobsPortController } from './media-jobs.controller.js';

const TOKEN = 'internal-token-of-the-tests-of-media-jobs';

/** A port as a separate process serves it. */
async function served(port: MediaJobs): Promise<Running> {
  class Root {}
  Module({})(Root);
  const module: DynamicModule = {
    module: Root,
    controllers: [MediaJobsPortController],
    providers: [
      { provide: MediaJobs, useValue: port },
      { provide: InternalToken, useValue: new InternalToken(TOKEN) },
    ],
  };
  const api = { host: '127.0.0.1', port: 0 };
  return serve({ module, logger: createLogger('silent'), api, drainMs: 5_000 });
}

const clientOf = (url: string, token = TOKEN): HttpMediaJobs =>
  new HttpMediaJobs({ url, token, waitMs: 20_000 });

mediaJobsConformance('HttpMediaJobs', async (port) => {
  const running = await served(port);
  const client = clientOf(running.apiUrl);
  return {
    port: client,
    stop: async () => {
      await client.close();
      await running.stop();
    },
  };
});

describe('jobs in another process', () => {
  const ID = randomUUID();

  /** How a call ends that another process treats like this. */
  async function outcome(
    respond: (response: ServerResponse) => void,
    call: (jobs: HttpMediaJobs) => Promise<unknown>,
  ): Promise<unknown> {
    const server = await TestServer.start((request, response) => {
      request.resume();
      respond(response);
    });
    const client = clientOf(server.url);
    const ended: unknown = await call(client).catch((error: unknown) => error);
    await client.close();
    await server.close();
    return ended;
  }

  async function bytesOf(jobs: MediaJobs): Promise<number> {
    let bytes = 0;
    for await (const part of await jobs.open(ID)) bytes += part.length;
    return bytes;
  }

  it.each<[string, (response: ServerResponse) => void]>([
    ['breaks off', (response) => void response.destroy()],
    ['has no store', (response) => void response.writeHead(503).end()],
    ['rejects the token', (response) => void response.writeHead(401).end()],
  ])('are UNAVAILABLE when it %s', async (_what, respond) => {
    expect(await outcome(respond, (jobs) => jobs.open(ID))).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await outcome(respond, (jobs) => jobs.charged(ID))).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('end a download with an error when it breaks off, never as if it were whole', async () => {
    const cut = (response: ServerResponse): void => {
      response.writeHead(200);
      response.write('half', () => response.destroy());
    };
    expect(await outcome(cut, bytesOf)).toBeInstanceOf(Error);
  });

  it('end a download with an error when the store there fails', async () => {
    class Failing extends MediaJobsOf {
      override async open(): Promise<AsyncIterable<Uint8Array>> {
        await Promise.resolve();
        return (async function* () {
          yield await Promise.resolve(Buffer.alloc(100_000));
          throw new Error('the storage server is away');
        })();
      }
    }
    const running = await served(new Failing());
    const client = clientOf(running.apiUrl);
    await expect(bytesOf(client)).rejects.toBeInstanceOf(Error);
    await client.close();
    await running.stop();
  });

  it('let the store go when the reader leaves', async () => {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    class Endless extends MediaJobsOf {
      override async open(): Promise<AsyncIterable<Uint8Array>> {
        await Promise.resolve();
        return (async function* () {
          try {
            for (;;) yield await Promise.resolve(Buffer.alloc(65_536));
          } finally {
            resolve();
          }
        })();
      }
    }
    const running = await served(new Endless());
    const client = clientOf(running.apiUrl);
    for await (const part of await client.open(ID)) if (part.length > 0) break;
    await expect(left).resolves.toBeUndefined();
    await client.close();
    await running.stop();
  });

  it('are refused to callers without the token', async () => {
    const running = await served(new MediaJobsOf());
    const client = clientOf(running.apiUrl, `${TOKEN}x`);
    await expect(client.remove(ID)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(client.open(ID)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await client.close();
    await running.stop();
  });
});

const refused = (): Promise<never> => Promise.reject(new Problem('NOT_AVAILABLE'));

/** Jobs of which a test needs one method. */
class MediaJobsOf extends MediaJobs {
  override earlier = refused;
  override repeated = refused;
  override place = refused;
  override charged = refused;
  override withdraw = refused;
  override find = refused;
  override downloadUrl = refused;
  override remove = refused;
  override list = refused;
  override end = refused;
  override open(_id: string): Promise<AsyncIterable<Uint8Array>> {
    return refused();
  }
}
