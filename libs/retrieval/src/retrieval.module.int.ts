import { CatalogModule } from '@svc/catalog';
import { GuardedFetchModule } from '@svc/guarded-fetch';
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { Retrieval } from '@svc/contracts/ports';
import { LoggerModule, createLogger } from '@svc/runtime';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { catalogWith } from '../test/catalog-with.js';
import { retrievalConfig } from './retrieval.config.js';
import { RetrievalModule } from './retrieval.module.js';

it('serves the port with the defaults, and fails as retryable after shutdown', async () => {
  const config = z.object(retrievalConfig).parse({});
  const imports = [
    GuardedFetchModule.with({}),
    CatalogModule.of(catalogWith(undefined)),
    LoggerModule.of(createLogger('silent')),
    RetrievalModule.with({ ...config, secret: () => undefined }),
  ];
  class Root {}
  const app = await NestFactory.createApplicationContext({ module: Root, imports }, { logger: false });
  const retrieval = app.get(Retrieval);
  const file = { accountId: 'account', bytes: Buffer.from('hello'), mediaType: 'text/plain' };
  expect(await retrieval.extractText(file)).toEqual({ text: 'hello', kind: 'text' });
  await app.close();
  await expect(retrieval.extractText(file)).rejects.toMatchObject({ retryable: true });
});
