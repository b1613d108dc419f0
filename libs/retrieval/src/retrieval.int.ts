import { CatalogModule } from '@svc/catalog';
import { GuardedFetchModule } from '@svc/guarded-fetch';
import { InternalToken, createLogger, serve } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { catalogWith } from '../test/catalog-with.js';
import { SerialisingRetrieval } from '../test/serialising-retrieval.js';
import { HttpRetrieval } from './api/http-retrieval.js';
import { LocalRetrieval } from './local-retrieval.js';
import { RetrievalApiModule } from './retrieval-api.module.js';
import { retrievalConfig } from './retrieval.config.js';
import { retrievalConformance } from '../test/retrieval.conformance.js';

const config = z.object(retrievalConfig).parse({});
const token = 'internal-token-of-the-tests-of-retrieval';

const clientOf = (url: string): HttpRetrieval =>
  new HttpRetrieval({
    RETRIEVAL_URL: url,
    RETRIEVAL_TIMEOUT_MS: config.RETRIEVAL_TIMEOUT_MS,
    RETRIEVAL_PAGE_TIMEOUT_MS: 1,
    token,
  });

retrievalConformance({
  name: 'in threads of this process',
  start: () => {
    const retrieval = new LocalRetrieval(config);
    return Promise.resolve({ retrieval, stop: () => retrieval.close() });
  },
});

retrievalConformance({
  name: 'over a wire',
  start: () => {
    const inner = new LocalRetrieval(config);
    return Promise.resolve({ retrieval: new SerialisingRetrieval(inner), stop: () => inner.close() });
  },
});

retrievalConformance({
  name: 'over HTTP',
  start: async () => {
    const imports = [
      GuardedFetchModule.with({}),
      CatalogModule.of(catalogWith(undefined)),
      RetrievalApiModule.with({ ...config, secret: () => undefined }, new InternalToken(token)),
    ];
    const module = { module: class Root {}, imports };
    const api = { host: '127.0.0.1', port: 0 };
    const running = await serve({ module, logger: createLogger('silent'), api });
    const retrieval = clientOf(running.apiUrl);
    return {
      retrieval,
      stop: async () => {
        await retrieval.close();
        await running.stop();
      },
    };
  },
});

describe('a retrieval process that is unreachable', () => {
  it('causes a failure that is retryable', async () => {
    const retrieval = clientOf('http://127.0.0.1:9');
    await expect(
      retrieval.extractText({ accountId: 'a', bytes: Buffer.from('text'), name: 'a.txt' }),
    ).rejects.toMatchObject({ name: 'ExtractionFailed', retryable: true });
    await retrieval.close();
  });
});
