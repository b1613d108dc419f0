import { jsonHeaders } from '@svc/backend-calls';
import type { Backend } from '@svc/contracts/catalog';
import { unusable } from '@svc/contracts/inference';
import { OpenAiReader } from '../chat/openai-reader.js';
import type { PieceReader } from '../chat/piece-reader.js';
import type { ChatReading, Dialect } from '../dialect/dialect.js';
import { bedrock } from './bedrock.js';
import { comfyui } from './comfyui.js';
import { gemini, vertex } from './gemini.js';
import { kokoro } from './kokoro.js';
import { AZURE, differencesAt } from '../chat/hosted-members.js';
import { hostedChat } from './openai-chat.js';
import { rerankOf } from '../scores/rerank-forms.js';
import { openai } from './openai.js';
import { rembg } from './rembg.js';
import { sdapi } from './sdapi.js';
import { anthropic } from './anthropic.js';
import { vllmProxy } from './vllm-proxy.js';
import { whisperCpp } from './whisper-cpp.js';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

/** The simulator has OpenAI's API and, below the same URL, the calls of others that change images. */
const simulator: Dialect = {
  ...openai,
  images: {
    ...openai.images,
    upscale: sdapi.images.upscale,
    cutout: rembg.images.cutout,
    read(body) {
      if (body.subarray(0, PNG.length).equals(PNG)) return rembg.images.read(body);
      return body.includes('"image":') ? sdapi.images.read(body) : openai.images.read(body);
    },
  },
};

/** OpenAI's API at Azure, with a key or a token of Entra. */
const azure: Dialect = {
  ...openai,
  headers: ({ requestId }) => jsonHeaders({ requestId, key: undefined }),
  authorization: 'entra',
  isHosted: true,
  chat: hostedChat(AZURE),
};

/** A blockchain node, which serves no model. */
const node: Dialect = { headers: jsonHeaders };

/** The dialect of each kind of backend. */
export const DIALECTS: Record<Backend['kind'], Dialect> = {
  openai,
  'llama-cpp-python': openai,
  anthropic,
  gemini,
  bedrock,
  vertex,
  azure,
  tei: { headers: jsonHeaders, rerank: rerankOf('tei') },
  cohere: { headers: jsonHeaders, isHosted: true, rerank: rerankOf('cohere') },
  simulator,
  'vllm-proxy': vllmProxy,
  comfyui,
  'json-rpc': node,
  kokoro,
  rembg,
  sdapi,
  'whisper-cpp': whisperCpp,
};

/** OpenAI's dialect as servers take it, by the URLs of backends. */
const hosted = new Map<string | undefined, Dialect>();

/** OpenAI's dialect, as the server at this URL takes it. */
function openaiAt(url: string | undefined): Dialect {
  const known = hosted.get(url);
  if (known) return known;
  const differences = differencesAt(url);
  const dialect: Dialect = differences
    ? { ...openai, isHosted: true, chat: hostedChat(differences) }
    : openai;
  hosted.set(url, dialect);
  return dialect;
}

/** The dialect of a backend. The simulator may simulate an enclave. */
export function dialectOf({ kind, tee, url }: Backend): Dialect {
  if (kind === 'openai') return openaiAt(url);
  return kind === 'simulator' && tee ? vllmProxy : DIALECTS[kind];
}

/** The reader of a response to a chat of a kind of backend; without a kind, of one with OpenAI's API. */
export function chatReaderOf(kind: string | undefined, reading: ChatReading): PieceReader {
  if (kind === undefined) return new OpenAiReader(reading.isEncrypted);
  const { reader } = (Object.hasOwn(DIALECTS, kind) && DIALECTS[kind as Backend['kind']].chat) || {};
  // A router of a later release has more kinds.
  if (!reader) throw unusable('the response is in a dialect that is not known here');
  return reader(reading);
}
