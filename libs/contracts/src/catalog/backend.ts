import { z } from 'zod';
import { AUDIO_FORMATS, SPEECH_FORMATS } from './audio-models.js';
import { BACKEND_KINDS } from './backend-kinds.js';
import { healthFields } from './health-fields.js';
import { TeeBackend, checkTee } from './tee-backends.js';
import { Workflow } from './workflow.js';

const PositiveCount = z.int().positive();

/** The name of an environment variable. */
const EnvName = z.string().regex(/^[A-Z][A-Z0-9_]*$/);

/** Kinds with a form of their own in which reasoning is asked for. */
const THINKING_KINDS: ReadonlySet<string> = new Set(['anthropic', 'gemini', 'vertex', 'bedrock']);

/** A server that runs a model. */
export const Backend = z
  .strictObject({
    /** Its name for clients and logs; default: `backend-1` for the first of its model, and so on. */
    name: z
      .string()
      .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes and underscores')
      .optional(),
    /** The base of an OpenAI-compatible API, such as `http://127.0.0.1:4000/v1`. */
    url: z.url({ protocol: /^https?$/ }).optional(),
    /**
     * Whether `url` names a headless service, each of whose addresses is a backend of its own: with slots,
     * cooldown and metrics, and the `weight` and `maxInFlight` of this entry. Over HTTP only, since pods have
     * no certificates for their addresses.
     */
    eachAddress: z.boolean().optional(),
    /** The model's name at the backend. */
    model: z.string().min(1),
    /** The API that it has. */
    kind: z.enum(BACKEND_KINDS).default('openai'),
    /** The environment variable that holds its key. */
    apiKeyEnv: EnvName.optional(),
    /**
     * The environment variable with the secret from which each account's `cache_salt` is derived, so that
     * accounts share no prefixes in the server's cache. For chats with vLLM or SGLang.
     */
    cacheSaltEnv: EnvName.optional(),
    /** The most texts in one embeddings call. Default: that of Text Embeddings Inference. */
    maxBatch: PositiveCount.default(32),
    /**
     * The formats of speech for which the backend needs `stream: true` to stream, such as `[pcm, wav]` for
     * vLLM-Omni. Default: none, since most servers always stream.
     */
    streamFormats: z.array(z.enum(SPEECH_FORMATS)).default([]),
    /**
     * The formats of audio files that it reads. Default: all, and for `whisper-cpp` WAV, since it reads
     * others only with `--convert`.
     */
    audioFormats: z.array(z.enum(AUDIO_FORMATS)).min(1).optional(),
    /** What `comfyui` runs for a request. Required there, and only there. */
    workflow: Workflow.optional(),
    /** Whether its template accepts system messages after others. Default: they become marked user text. */
    lateSystemMessages: z.boolean().optional(),
    /**
     * For hosted models: whether they decide by themselves how much to reason, or need a number of tokens, as
     * those before Claude Opus 4.6 and Gemini 3 do. Default: `adaptive`.
     */
    thinking: z.enum(['adaptive', 'budget']).optional(),
    /**
     * What clients may ask for by `anthropic-beta`, such as `context-1m-2025-08-07`: only what has no price
     * of its own. Default: nothing.
     */
    betas: z
      .array(z.string().regex(/^[\w.-]{1,64}$/))
      .max(64)
      .optional(),
    /** For an enclave: `vllm-proxy`, or the one of the simulator. */
    tee: TeeBackend.optional(),
    ...healthFields,
    weight: z.number().positive().default(1),
    /**
     * Concurrent requests of each router process; further ones go elsewhere, or wait and share slots by
     * account.
     */
    maxInFlight: PositiveCount.default(256),
  })
  .refine((backend) => backend.url !== undefined || backend.kind === 'simulator', {
    path: ['url'],
    message: 'is required for every backend but the simulator',
  })
  .refine(({ eachAddress = false, url = '' }) => !eachAddress || url.startsWith('http://'), {
    path: ['eachAddress'],
    message: 'needs a `url` with http',
  })
  .refine(({ kind, workflow }) => (kind === 'comfyui') === (workflow !== undefined), {
    path: ['workflow'],
    message: 'is required for the kind comfyui, and only there',
  })
  .refine(({ kind, thinking }) => thinking === undefined || THINKING_KINDS.has(kind), {
    path: ['thinking'],
    message: `is only for the kinds ${[...THINKING_KINDS].join(', ')}`,
  })
  .refine(({ kind, betas }) => betas === undefined || kind === 'anthropic', {
    path: ['betas'],
    message: 'is only for the kind anthropic',
  })
  .superRefine(checkTee);

export type Backend = z.infer<typeof Backend>;

/** Whether calls may go to several servers: of several entries, or of one with each of its addresses. */
export const haveChoice = (backends: readonly Pick<Backend, 'eachAddress'>[]): boolean =>
  backends.length > 1 || backends[0]?.eachAddress === true;
