import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { type Output, openPython } from './environments.js';
import { faultOf, outcomesOf } from './outcomes.js';

/** A client loads in seconds, and makes a dozen short requests. */
const CLIENT_MS = 300_000;

const COMMON = ['chat', 'stream', 'tools', 'structured_output', 'image', 'wrong_key', 'context_overflow'];

const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  openai: [
    ...COMMON,
    'stream_with_usage',
    'models',
    'embeddings',
    'speech',
    'streamed_speech',
    'transcription',
    'images',
    'image_edits',
  ],
  litellm: COMMON,
  llm: COMMON,
  llm_responses: COMMON,
  pydantic_ai: [...COMMON, 'structured_output_by_tool'],
  langchain: [...COMMON, 'embeddings'],
  openai_responses: COMMON,
  openai_agents: COMMON,
  pydantic_ai_responses: [...COMMON, 'structured_output_by_tool'],
  langchain_responses: COMMON,
  openai_completions: ['text', 'stream', 'choices', 'several_prompts', 'wrong_key', 'context_overflow'],
  langchain_completions: ['text', 'stream', 'batch', 'wrong_key', 'context_overflow'],
  anthropic: [...COMMON, 'count_tokens', 'models'],
  pydantic_ai_messages: COMMON,
  langchain_anthropic: COMMON,
};

/** A model of each type, on the simulator of the platform. */
const MODELS = [
  // The model of the samples.
  { id: 'llama-3.2-3b' },
  {
    id: 'test-embeddings',
    name: 'Test Embeddings',
    type: 'embedding',
    tier: 'XS',
    embeddingDimensions: 1_024,
    pricing: { input: 0.15 },
  },
  {
    id: 'test-speech',
    name: 'Test Speech',
    type: 'tts',
    tier: 'XS',
    voices: ['alloy'],
    defaultVoice: 'alloy',
    formats: ['mp3', 'wav', 'flac'],
    defaultFormat: 'mp3',
    pricing: { input: 15 },
  },
  {
    id: 'test-transcription',
    name: 'Test Transcription',
    type: 'asr',
    tier: 'XS',
    pricing: { perAudioSecond: 0.0001 },
  },
  {
    id: 'test-image',
    name: 'Test Image',
    type: 'image',
    tier: 'XS',
    pricing: { generation: 0.01 },
  },
  {
    id: 'test-edit',
    name: 'Test Edit',
    type: 'inpaint',
    tier: 'XS',
    constraints: { maxInputImages: 3 },
    pricing: { inpaint: 0.01 },
  },
];

type Samples = Readonly<Record<string, { readonly python: string }>>;

const clients = await openPython();

describe.skipIf(!clients)('unmodified Python clients', () => {
  let platform: Platform;
  let env: Readonly<Record<string, string>>;

  beforeAll(async () => {
    platform = await Platform.start({ models: MODELS });
    const { apiKey } = await platform.account('100.00');
    env = {
      SVC_URL: platform.apiUrl,
      SVC_API_KEY: apiKey,
      // By default it looks up prices on the web.
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      PYTHONUTF8: '1',
    };
  });

  afterAll(() => platform?.stop());

  it.each([
    'listModels',
    'createChatCompletion',
    'createResponse',
    'createMessage',
    'createFile',
    'listFiles',
  ])(
    'the sample of %s on the page of the API',
    async (operationId) => {
      const text = await (await fetch(`${platform.rootUrl}/docs/samples.json`)).text();
      const samples = JSON.parse(text.replaceAll('SVC_ADDRESS', platform.rootUrl)) as Samples;
      const args = ['-c', samples[operationId]?.python ?? ''];
      const folder = await mkdtemp(join(tmpdir(), 'svc-samples-'));
      await writeFile(join(folder, 'requests.jsonl'), '{}\n');
      const result = await clients?.run('python', args, { env, cwd: folder, deadlineMs: CLIENT_MS });
      await rm(folder, { recursive: true });
      expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/'(?:id|data)':/) as string });
    },
    CLIENT_MS,
  );

  describe.each(Object.entries(CLIENTS))('%s', (name, scenarios) => {
    let output: Output | undefined;

    beforeAll(async () => {
      const args = ['scenarios.py', `client_${name}`];
      output = await clients?.run('python', args, { env, deadlineMs: CLIENT_MS });
    }, CLIENT_MS);

    it.each(scenarios)('%s', (scenario) => {
      expect(faultOf(scenario, output)).toBeUndefined();
    });

    it('run no other scenario', () => {
      const all = outcomesOf(output).map((outcome) => outcome.name);
      expect(all.toSorted()).toEqual([...scenarios].toSorted());
    });
  });
});
