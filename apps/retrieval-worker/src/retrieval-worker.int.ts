import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { HttpRetrieval } from '@svc/retrieval';
import { RunningProcess } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const TOKEN = 'internal-token-of-the-tests-of-retrieval';

describe('retrieval-worker', () => {
  let service: RunningProcess;
  let url: string;

  beforeAll(async () => {
    const env = { PORT: '0', RETRIEVAL_TOKEN: TOKEN };
    const { service: started, match } = await RunningProcess.start(
      { main: MAIN, env },
      /listening on (http:\S+)/,
    );
    service = started;
    url = match[1] ?? '';
  });
  afterAll(async () => {
    assert.equal(await service.stop(), 0);
  });

  it('is ready, and reads files for callers with the token', async () => {
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const file = { accountId: 'a', bytes: Buffer.from('# Title'), name: 'a.md' };
    const ask = async (token: string): Promise<unknown> => {
      const retrieval = new HttpRetrieval({
        RETRIEVAL_URL: url,
        RETRIEVAL_TIMEOUT_MS: 20_000,
        RETRIEVAL_PAGE_TIMEOUT_MS: 1,
        token,
      });
      const read: unknown = await retrieval.extractText(file).catch((error: unknown) => error);
      await retrieval.close();
      return read;
    };
    expect(await ask(TOKEN)).toMatchObject({ kind: 'markdown', text: '# Title' });
    expect(await ask(`${TOKEN}x`)).toMatchObject({ name: 'ExtractionFailed', retryable: true });
  });

  it('reports all invalid settings at once', async () => {
    const faulty = RunningProcess.spawn({ main: MAIN, env: { RETRIEVAL_THREADS: '0' } });
    expect(await faulty.ended()).toBe(1);
    expect(faulty.output).toMatch(/RETRIEVAL_THREADS/);
    expect(faulty.output).toMatch(/RETRIEVAL_TOKEN/);
  });
});
