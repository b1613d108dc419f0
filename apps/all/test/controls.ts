import { once } from 'node:events';
import { type IncomingMessage, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import type { Arrangement, Deployed } from './target.js';

/** A deployment that the end-to-end tests of a worker share. */
export interface SharedTarget {
  readonly configure: (wanted: Arrangement) => Promise<Deployed>;
  readonly logs: () => Promise<string>;
  /** Resolves with the names of the processes that ended before, or had to be killed. */
  readonly stop: () => Promise<readonly string[]>;
}

/**
 * Gives each worker of the project a target, which is started when the first file of the worker needs it.
 * Returns the function that stops all of them.
 */
export async function openControls(
  project: TestProject,
  { isClustered, start }: { readonly isClustered: boolean; readonly start: () => Promise<SharedTarget> },
): Promise<() => Promise<void>> {
  project.provide('isClustered', isClustered);
  const controls = await Promise.all(
    Array.from({ length: project.config.maxWorkers }, () => openControl(start)),
  );
  project.provide(
    'controlUrls',
    controls.map(({ url }) => url),
  );
  return async () => {
    const faulty = (await Promise.all(controls.map(({ close }) => close()))).flat();
    if (faulty.length > 0)
      throw new Error(`These processes ended before the tests, or did not stop: ${faulty.join(', ')}`);
  };
}

/** The server by which a worker controls its target. */
async function openControl(
  start: () => Promise<SharedTarget>,
): Promise<{ url: string; close: () => Promise<readonly string[]> }> {
  let started: Promise<SharedTarget> | undefined;
  const respond = async (request: IncomingMessage): Promise<string> => {
    const target = await (started ??= start());
    if (request.method === 'GET') return target.logs();
    return JSON.stringify(await target.configure((await json(request)) as Arrangement));
  };
  const server = createServer((request, response) => {
    respond(request).then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<readonly string[]> => {
    server.close();
    return started ? (await started).stop() : [];
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
