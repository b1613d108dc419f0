import { Backend } from '@svc/contracts/catalog';
import { COMFY_WORKFLOW } from '@svc/testing';
import { expect, it } from 'vitest';
import { dialectOf } from './dialects.js';

const OPENAI = 'chat embeddings images(edit make) jobs moderations rerank speech transcriptions';

/** What each kind can do. Its backends are not called for anything else. */
const ABILITIES: Readonly<Record<Backend['kind'], string>> = {
  openai: OPENAI,
  'llama-cpp-python': OPENAI,
  anthropic: 'chat',
  gemini: 'chat embeddings images(make) speech',
  vertex: 'chat embeddings images(make) speech',
  bedrock: 'chat embeddings',
  azure: OPENAI,
  simulator: 'chat embeddings images(cutout edit make upscale) jobs moderations rerank speech transcriptions',
  'vllm-proxy': 'chat embeddings enclave images(edit make) jobs moderations rerank speech transcriptions',
  kokoro: 'speech',
  'whisper-cpp': 'transcriptions',
  sdapi: 'images(make upscale)',
  rembg: 'images(cutout)',
  comfyui: 'images(make)',
  tei: 'rerank',
  cohere: 'rerank',
  'json-rpc': '',
};

/** What entries of some kinds must have. */
const REQUIRED: Partial<Record<string, object>> = {
  comfyui: { workflow: COMFY_WORKFLOW },
  'vllm-proxy': { tee: {} },
};

it.each(Object.entries(ABILITIES))(
  'a backend of the kind %s can do this and nothing else: %s',
  (kind, can) => {
    const entry = { kind, url: 'http://127.0.0.1:1', model: 'x', ...REQUIRED[kind] };
    const dialect = dialectOf(Backend.parse(entry));
    const namesIn = (record: object, others: readonly string[]): string[] =>
      Object.keys(record)
        .filter((name) => !others.includes(name))
        .toSorted();
    const names = namesIn(dialect, ['headers', 'isHosted', 'authorization']).map((name) =>
      name === 'images' ? `images(${namesIn(dialect.images ?? {}, ['read', 'isQueued']).join(' ')})` : name,
    );
    expect(names.join(' ')).toBe(can);
  },
);
