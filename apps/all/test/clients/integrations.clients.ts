import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { openPython } from './environments.js';
import { faultOf } from './outcomes.js';

const RUN_MS = 300_000;

/** Each has packages of its own, which fit no other's. */
const [llamaIndex, aider] = await Promise.all(
  ['llama-index.txt', 'aider.txt'].map((name) =>
    openPython({ requirements: join(import.meta.dirname, name), env: {} }),
  ),
);

describe.skipIf(!llamaIndex || !aider)('programs in Python with packages of their own', () => {
  let platform: Platform;
  let apiKey: string;
  let home: string;

  beforeAll(async () => {
    platform = await Platform.start();
    ({ apiKey } = await platform.account('10.00'));
    home = await mkdtemp(join(tmpdir(), 'svc-programs-'));
  });
  afterAll(async () => {
    await platform?.stop();
    await rm(home, { recursive: true, force: true });
  });

  it.each(['chat', 'stream', 'wrong_key'])(
    'LlamaIndex: %s',
    async (scenario) => {
      const env = { SVC_URL: platform.apiUrl, SVC_API_KEY: apiKey, PYTHONUTF8: '1', HOME: home };
      const args = ['scenarios.py', 'client_llama_index'];
      const output = await llamaIndex?.run('python', args, { env, deadlineMs: RUN_MS });
      expect(faultOf(scenario, output)).toBeUndefined();
    },
    RUN_MS,
  );

  it(
    'aider completes a task by POST /chat/completions',
    async () => {
      const task = 'Repeat: a short poem [[sim echo=true]]';
      const options = ['--yes-always', '--no-git', '--no-check-update', '--analytics-disable'];
      const output = await aider?.run(
        'aider',
        ['--model', 'openai/test-model', '--message', task, ...options],
        {
          cwd: home,
          env: {
            HOME: home,
            OPENAI_API_BASE: platform.apiUrl,
            OPENAI_API_KEY: apiKey,
            LITELLM_LOCAL_MODEL_COST_MAP: 'True',
          },
          deadlineMs: RUN_MS,
        },
      );
      expect([output?.code, output?.stdout]).toEqual([0, expect.stringContaining('a short poem')]);
    },
    RUN_MS,
  );
});
