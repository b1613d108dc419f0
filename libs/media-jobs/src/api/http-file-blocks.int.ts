import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DynamicModule, Module } from '@nestjs/common';
import { FileBlocks } from '@svc/contracts/ports';
import { InternalToken, type Running, createLogger, serve } from '@svc/runtime';
import { expect, it } from 'vitest';
import { keepsFileBlocks } from '../../test/file-blocks.conformance.js';
import { FileMediaStore } from '../files/file-media-store.js';
import { LocalFileBlocks, NoFileBlocks } from '../files/local-file-blocks.js';
import { FileBlocksPortController } from './file-blocks.controller.js';
import { HttpFileBlocks } from './http-file-blocks.js';

const TOKEN = 'internal-token-of-the-tests-of-file-blocks';

/** A port as a separate process serves it. */
async function served(port: FileBlocks): Promise<Running> {
  class Root {}
  Module({})(Root);
  const module: DynamicModule = {
    module: Root,
    controllers: [FileBlocksPortController],
    providers: [
      { provide: FileBlocks, useValue: port },
      { provide: InternalToken, useValue: new InternalToken(TOKEN) },
    ],
  };
  const api = { host: '127.0.0.1', port: 0 };
  return serve({ module, logger: createLogger('silent'), api, drainMs: 5_000 });
}

keepsFileBlocks('a folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-blocks-'));
  return {
    blocks: new LocalFileBlocks(await FileMediaStore.at(folder)),
    stop: () => rm(folder, { recursive: true, force: true }),
  };
});

keepsFileBlocks('another process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-blocks-'));
  const running = await served(new LocalFileBlocks(await FileMediaStore.at(folder)));
  const blocks = new HttpFileBlocks({ url: running.apiUrl, token: TOKEN });
  return {
    blocks,
    stop: async () => {
      await blocks.close();
      await running.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
});

it('refuses callers without the token, and reports that as a failure, never as a missing block', async () => {
  const running = await served(new NoFileBlocks());
  const stranger = new HttpFileBlocks({ url: running.apiUrl, token: `${TOKEN} of others` });
  const caller = new HttpFileBlocks({ url: running.apiUrl, token: TOKEN });
  for (const blocks of [stranger, caller])
    await expect(blocks.get('file-a-0')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await Promise.all([stranger.close(), caller.close()]);
  await running.stop();
});
