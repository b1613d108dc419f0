import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { type Output, PythonClients } from './python.js';

/** A client loads in seconds, and has a dozen short requests to make. */
const CLIENT_MS = 300_000;

const COMMON = ['chat', 'stream', 'tools', 'structured_output', 'image', 'wrong_key', 'context_overflow'];

const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  openai: [...COMMON, 'stream_with_usage', 'models'],
  litellm: COMMON,
  llm: COMMON,
  pydantic_ai: [...COMMON, 'structured_output_by_tool'],
  langchain: COMMON,
};

const clients = await PythonClients.open();

describe.skipIf(!clients)('clients in Python, as they are', () => {
  let platform: Platform;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    platform = await Platform.start();
    const { apiKey } = await platform.account('100.00');
    env = {
      SVC_URL: platform.apiUrl,
      SVC_API_KEY: apiKey,
      // Without it, it looks for prices on the web.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      PYTHONUTF8: '1',
    };
  });

  afterAll(() => platform?.stop());

  describe.each(Object.entries(CLIENTS))('%s', (name, scenarios) => {
    let output: Output | undefined;

    beforeAll(async () => {
      const args = ['scenarios.py', `client_${name}`];
      output = await clients?.run('python', args, { env, deadlineMs: CLIENT_MS });
    }, CLIENT_MS);

    it.each(scenarios)('%s', (scenario) => {
      expect(faultOf(scenario, output)).toBeUndefined();
    });

    it('has no other scenario', () => {
      const all = resultsOf(output).map((result) => result.name);
      expect(all.toSorted()).toEqual([...scenarios].toSorted());
    });
  });
});

interface Result {
  readonly name: string;
  /** `null` where all went as it should. */
  readonly fault: string | null;
}

function resultsOf(output: Output | undefined): Result[] {
  const lines = output?.stdout.split('\n').filter((line) => line.startsWith('RESULT ')) ?? [];
  return lines.map((line) => JSON.parse(line.slice('RESULT '.length)) as Result);
}

function faultOf(scenario: string, output: Output | undefined): string | undefined {
  const result = resultsOf(output).find(({ name }) => name === scenario);
  return result ? (result.fault ?? undefined) : `it did not run:\n${output?.stdout}${output?.stderr}`;
}
