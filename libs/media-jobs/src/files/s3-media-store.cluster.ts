import { type LocalS3, temporaryS3 } from '@svc/infra';
import { TestServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { keepsFileBlocks } from '../../test/file-blocks.conformance.js';
import { contentOf, pieces, storesMedia } from '../../test/media-store.conformance.js';
import { LocalFileBlocks } from './local-file-blocks.js';
import { type S3Bucket, S3Calls, elementsOf } from './s3-calls.js';
import { S3MediaStore } from './s3-media-store.js';

const PART = Buffer.alloc(5_242_880, 'part');

function bucketOf(server: LocalS3, over: Partial<S3Bucket> = {}): S3Bucket {
  const { settings } = server;
  return {
    url: settings['MEDIA_S3_URL'] ?? '',
    name: settings['MEDIA_S3_BUCKET'] ?? '',
    region: 'us-east-1',
    prefix: 'jobs/',
    credentials: {
      accessKeyId: settings['MEDIA_S3_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: settings['MEDIA_S3_SECRET_ACCESS_KEY'] ?? '',
    },
    ...over,
  };
}

/** The names of the unfinished uploads in a bucket. */
async function uploads(server: LocalS3): Promise<string[]> {
  const calls = new S3Calls(bucketOf(server));
  const call = { operation: 'read', method: 'GET', query: { uploads: '' }, deadlineMs: 10_000 } as const;
  const { text } = await calls.ask(call);
  await calls.close();
  return elementsOf(text, 'Key');
}

storesMedia('the store in S3', async () => {
  const server = await temporaryS3();
  const store = new S3MediaStore(bucketOf(server));
  return {
    store,
    held: async () => [...(await server.objects()), ...(await uploads(server))],
    stop: async () => {
      await store.close();
      await server.stop();
    },
  };
});

keepsFileBlocks('a bucket', async () => {
  const server = await temporaryS3();
  const store = new S3MediaStore(bucketOf(server));
  return {
    blocks: new LocalFileBlocks(store),
    stop: async () => {
      await store.close();
      await server.stop();
    },
  };
});

describe('the store in S3', () => {
  let server: LocalS3;
  let store: S3MediaStore;
  beforeAll(async () => {
    server = await temporaryS3();
    store = new S3MediaStore(bucketOf(server));
  });
  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  it.each<[Partial<S3Bucket>, number]>([
    [{ credentials: { accessKeyId: 'media', secretAccessKey: 'x'.repeat(40) } }, 403],
    [{ name: 'missing' }, 404],
  ])('reports %j when it is checked', async (fault, status) => {
    await store.check();
    const faulty = new S3MediaStore(bucketOf(server, fault));
    await expect(faulty.check()).rejects.toMatchObject({ name: 'S3Refusal', status });
    await faulty.close();
  });

  it('deletes what a killed process has uploaded of an object', async () => {
    const { promise: never } = Promise.withResolvers<void>();
    const { promise: half, resolve } = Promise.withResolvers<void>();
    const other = new S3MediaStore(bucketOf(server));
    const interrupted = other.put(
      'left',
      (async function* () {
        yield PART;
        yield PART;
        // The first part is there before the third piece is read.
        yield PART;
        resolve();
        await never;
      })(),
      100_000_000,
    );
    void interrupted.catch(() => undefined);
    await half;
    expect(await uploads(server)).toEqual(['jobs/left']);
    await store.remove('left');
    expect(await uploads(server)).toEqual([]);
    expect(await server.objects()).toEqual([]);
    await other.close();
  });

  it('gives a URL, at the address for clients, that reads its object without a key until it ends', async () => {
    const publicUrl = server.settings['MEDIA_S3_URL'];
    expect(await store.urlOf('shown', 60)).toBeUndefined();
    const shown = new S3MediaStore(bucketOf(server, { publicUrl }));
    const url = (await shown.urlOf('shown', 60)) ?? '';
    expect(url.startsWith(`${publicUrl}/media/jobs/shown?`)).toBe(true);
    expect((await fetch(url)).status).toBe(404);
    await store.put('shown', pieces('a video'), 10);
    expect(await (await fetch(url)).text()).toBe('a video');
    await store.put('other', pieces('of others'), 10);
    const others = [
      url.replace('/shown?', '/other?'),
      url.replace('Expires=60', 'Expires=61'),
      url.split('?')[0] ?? '',
    ];
    const statuses = await Promise.all(others.map(async (other) => (await fetch(other)).status));
    expect(statuses).toEqual([403, 403, 403]);
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403);
    const brief = (await shown.urlOf('shown', 1)) ?? '';
    await vi.waitFor(async () => expect((await fetch(brief)).status).toBe(403), { timeout: 10_000 });
    for (const key of ['shown', 'other']) await store.remove(key);
    expect((await fetch(url)).status).toBe(404);
    await shown.close();
  });

  it('rejects while the server is away, and works again when it is back', async () => {
    await store.put('a', pieces('kept'), 10);
    await server.kill();
    await expect(store.put('a', pieces('new'), 10)).rejects.toThrow('ECONNREFUSED');
    await expect(store.open('a')).rejects.toThrow('ECONNREFUSED');
    await expect(store.remove('a')).rejects.toThrow('ECONNREFUSED');
    await server.restart();
    expect(String(await contentOf(store, 'a'))).toBe('kept');
    await store.remove('a');
  });
});

describe('a failing S3 server', () => {
  const credentials = { accessKeyId: 'k', secretAccessKey: 'secret' };
  const away = { name: 'media', region: 'eu', prefix: '', credentials };

  /** The requests that a store makes of a server that responds like this, and how its call ends. */
  async function requestsOf(
    respond: (request: string, count: number) => { status: number; text?: string },
    call: (store: S3MediaStore) => Promise<unknown>,
  ): Promise<{ requests: string[]; outcome: unknown }> {
    const requests: string[] = [];
    const failing = await TestServer.start((request, response) => {
      const line = `${request.method} ${request.url}`;
      request.resume().once('end', () => {
        requests.push(line);
        const { status, text = '' } = respond(line, requests.length);
        response.writeHead(status, { etag: '"tag"' }).end(text);
      });
    });
    const store = new S3MediaStore({ ...away, url: failing.url });
    const outcome: unknown = await call(store).catch((error: unknown) => error);
    await store.close();
    await failing.close();
    return { requests, outcome };
  }

  it('that is overloaded gets a part once more', async () => {
    const { requests, outcome } = await requestsOf(
      (_, count) => ({ status: count === 1 ? 503 : 200 }),
      (store) => store.put('a', pieces('x'), 1),
    );
    expect(requests).toEqual(['PUT /media/a', 'PUT /media/a']);
    expect(outcome).toMatchObject({ bytes: 1 });
  });

  it('that reports a failure after its 200 has stored nothing, and the upload is ended', async () => {
    const { requests, outcome } = await requestsOf(
      (request) => {
        if (request.startsWith('POST') && request.includes('uploadId'))
          return { status: 200, text: '<Error><Code>InternalError</Code></Error>' };
        return { status: 200, text: '<UploadId>a&amp;b</UploadId>' };
      },
      (store) => store.put('a', pieces(PART, 'x'), PART.length + 1),
    );
    expect(outcome).toMatchObject({ code: 'InternalError' });
    expect(requests).toEqual([
      'POST /media/a?uploads=',
      'PUT /media/a?partNumber=1&uploadId=a%26b',
      'PUT /media/a?partNumber=2&uploadId=a%26b',
      'POST /media/a?uploadId=a%26b',
      'DELETE /media/a?uploadId=a%26b',
    ]);
  });

  it('that rejects a call is named with its reason, and without a key', async () => {
    const { outcome } = await requestsOf(
      () => ({
        status: 403,
        text: '<Error><Code>AccessDenied</Code><AWSAccessKeyId>k</AWSAccessKeyId></Error>',
      }),
      (store) => store.open('a'),
    );
    expect(String(outcome)).toBe('S3Refusal: the storage server responded with 403 AccessDenied to GET');
  });
});
