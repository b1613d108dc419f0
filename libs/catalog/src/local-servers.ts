import type { Backend } from '@svc/contracts/catalog';
import { z } from 'zod';
import { boundedJson } from '@svc/runtime';
import { boundedText } from './bounded-text.js';
import { Count, Flag, Names } from './providers/listed-model.js';

/** Timeout for listing the models of a server on this machine, and for describing one. */
const RESPONSE_MS = 2_000;

/** Timeout for a first call of a model, which its server may have to load. */
const PROBE_MS = 15_000;

const RESPONSE_LIMIT_BYTES = 4 * 1_048_576;

const MOST_DIMENSIONS = 65_536;

/** A model as its server describes it, without what the server does not report. */
export interface ReportedModel {
  readonly id: string;
  readonly contextTokens?: number;
  readonly tools: boolean;
  readonly vision: boolean;
  /** Whether the model makes embeddings instead of text. */
  readonly isEmbedding: boolean;
  /** The length of its embeddings, if it was found out. */
  readonly dimensions?: number;
}

/** The properties that one API reports. */
type Details = {
  readonly [Name in keyof Omit<ReportedModel, 'id' | 'dimensions'>]?: ReportedModel[Name] | undefined;
};

/** OpenAI's list of models; vLLM adds the context length, and infinity what a model does. */
const List = z.object({ object: z.literal('list'), data: z.array(z.unknown()) });
const Listed = z.object({
  id: z.string(),
  max_model_len: Count,
  capabilities: Names,
  owned_by: z.string().optional().catch(undefined),
});
type Listed = z.infer<typeof Listed>;

/** `GET /openapi.json` of vLLM, SGLang, infinity, llama-cpp-python and others. */
const Routes = z.object({
  info: z
    .object({ title: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
  paths: z.record(z.string(), z.unknown()),
});

const Vectors = z.object({
  data: z.tuple([z.object({ embedding: z.array(z.number()).min(1).max(MOST_DIMENSIONS) })]),
});

/** `GET /props` of llama.cpp. */
const Props = z.object({
  default_generation_settings: z.object({ n_ctx: Count }).optional().catch(undefined),
  modalities: z.object({ vision: Flag }).optional().catch(undefined),
  chat_template_caps: z
    .object({ supports_tools: Flag, supports_tool_calls: Flag })
    .optional()
    .catch(undefined),
});

/** `POST /api/show` of Ollama. */
const Show = z.object({
  capabilities: Names,
  parameters: z.string().optional().catch(undefined),
  model_info: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

/** `GET /api/v0/models` of LM Studio. */
const Studio = z.object({ data: z.array(z.unknown()) });
const StudioModel = z.object({
  id: z.string(),
  type: z.string().optional().catch(undefined),
  capabilities: Names,
  loaded_context_length: Count,
  max_context_length: Count,
});

/** The models of a server, up to the requested number. */
export interface Report {
  /** The base of its API. */
  readonly url: string;
  /** If it is one whose backends need it. */
  readonly kind?: Backend['kind'];
  readonly models: readonly ReportedModel[];
  /** The number of further models. */
  readonly more: number;
  /** Whether the server lists its models only with a key, or with another key. */
  readonly wantsKey: boolean;
}

/** The body of a 401 or 403 from a model server; other programs mostly send an HTML page. */
const KeyError = z.union([z.object({ error: z.unknown() }), z.object({ detail: z.unknown() })]);

/**
 * The models of an OpenAI-compatible server, with the properties that its own API reports; empty if there is
 * no server.
 */
export async function reportedModels(
  given: string,
  { most, apiKey }: { readonly most: number; readonly apiKey: string | undefined },
): Promise<Report> {
  const { origin } = new URL(given);
  const first = await read(`${given}/models`, { apiKey });
  // infinity has no prefix.
  const [url, response] =
    first?.status === 404 ? ([origin, await read(`${origin}/models`, { apiKey })] as const) : [given, first];
  const wantsKey = isUnauthorized(response);
  const list = List.safeParse(response?.status === 200 ? response.value : undefined);
  const all = (list.data?.data ?? []).flatMap((entry) => Listed.safeParse(entry).data ?? []);
  const listed = all.slice(0, most);
  if (listed.length === 0) return { url, models: [], more: 0, wantsKey };
  const [props, studio, routes] = await Promise.all([
    // `/props` describes one model; with several there is no telling which.
    listed.length === 1 ? readJson(`${origin}/props`, { apiKey }) : undefined,
    readJson(`${origin}/api/v0/models`, { apiKey }),
    readJson(`${origin}/openapi.json`, { apiKey }),
  ]);
  const models = await Promise.all(
    listed.map(async (entry) => {
      const { id } = entry;
      const show = await readJson(`${origin}/api/show`, { apiKey, body: { model: id } });
      const reported = merged([
        ofListed(entry),
        ofRoutes(routes),
        ofProps(props),
        ofStudio(studio, id),
        ofShow(show),
      ]);
      return tried({ id, ...reported }, { url, apiKey, isVllm: entry.owned_by === 'vllm' });
    }),
  );
  const kind = kindOf(routes);
  return { url, ...(kind && { kind }), models, more: all.length - listed.length, wantsKey };
}

function kindOf(routes: unknown): Backend['kind'] | undefined {
  const title = Routes.safeParse(routes).data?.info?.title ?? '';
  return /llama\.cpp Python API/i.test(title) ? 'llama-cpp-python' : undefined;
}

interface Api {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly isVllm: boolean;
}

/**
 * Finds out by a call what a server does not report: vLLM whether it parses calls of tools and whether a
 * model makes text at all, every server the length of its embeddings.
 */
async function tried(model: ReportedModel, { url, apiKey, isVllm }: Api): Promise<ReportedModel> {
  const { id } = model;
  let { isEmbedding, tools } = model;
  if (isVllm && !isEmbedding) {
    const body = { model: id, messages: [GREETING], max_tokens: 1, tools: [TOOL], tool_choice: 'auto' };
    const response = await read(`${url}/chat/completions`, { apiKey, body, limitMs: PROBE_MS });
    tools = response?.status === 200;
    isEmbedding = response?.status === 404 || NO_CHAT.test(JSON.stringify(response?.value ?? null));
  }
  if (!isEmbedding) return { ...model, tools };
  const body = { model: id, input: ['Hi'] };
  const response = await read(`${url}/embeddings`, { apiKey, body, limitMs: PROBE_MS });
  const vectors = Vectors.safeParse(response?.status === 200 ? response.value : undefined);
  const dimensions = vectors.data?.data[0].embedding.length;
  return { ...model, isEmbedding, tools: false, ...(dimensions !== undefined && { dimensions }) };
}

const GREETING = { role: 'user', content: 'Hi' };
const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };

/** vLLM's response to a chat with a model for embeddings. */
const NO_CHAT = /does not support chat completions/i;

/** The smallest reported context, and each capability that any of the APIs reports. */
function merged(details: readonly Details[]): Omit<ReportedModel, 'id'> {
  const contexts = details.flatMap(({ contextTokens }) => contextTokens ?? []);
  return {
    ...(contexts.length > 0 && { contextTokens: Math.min(...contexts) }),
    tools: details.some(({ tools }) => tools),
    vision: details.some(({ vision }) => vision),
    isEmbedding: details.some(({ isEmbedding }) => isEmbedding),
  };
}

function ofListed({ max_model_len: contextTokens, capabilities }: Listed): Details {
  return { contextTokens, isEmbedding: makesOnlyEmbeddings(capabilities) };
}

function ofRoutes(value: unknown): Details {
  const paths = Object.keys(Routes.safeParse(value).data?.paths ?? {});
  const has = (end: string): boolean => paths.some((path) => path.endsWith(end));
  return { isEmbedding: has('/embeddings') && !has('/chat/completions') && !has('/completions') };
}

const makesOnlyEmbeddings = (capabilities: readonly string[] = []): boolean =>
  capabilities.some((each) => each.startsWith('embed')) &&
  !capabilities.some((each) => /completion|chat|generate/.test(each));

function ofProps(value: unknown): Details {
  const { data } = Props.safeParse(value);
  const { supports_tools: takesTools, supports_tool_calls: callsTools } = data?.chat_template_caps ?? {};
  return {
    contextTokens: data?.default_generation_settings?.n_ctx,
    tools: takesTools === true || callsTools === true,
    vision: data?.modalities?.vision === true,
  };
}

function ofShow(value: unknown): Details {
  const { capabilities, parameters = '', model_info: info = {} } = Show.safeParse(value).data ?? {};
  const trained = Count.parse(info[`${String(info['general.architecture'])}.context_length`]);
  const set = Count.parse(Number(/^num_ctx\s+(\d{1,9})$/m.exec(parameters)?.[1]));
  return {
    contextTokens: set ?? trained,
    tools: capabilities?.includes('tools'),
    vision: capabilities?.includes('vision'),
    isEmbedding: makesOnlyEmbeddings(capabilities),
  };
}

function ofStudio(value: unknown, id: string): Details {
  const models = Studio.safeParse(value).data?.data ?? [];
  const model = models
    .flatMap((each) => StudioModel.safeParse(each).data ?? [])
    .find((each) => each.id === id);
  return {
    contextTokens: model?.loaded_context_length ?? model?.max_context_length,
    tools: model?.capabilities?.includes('tool_use'),
    vision: model?.type === 'vlm',
    isEmbedding: model?.type === 'embeddings',
  };
}

const isUnauthorized = (response: JsonResponse | undefined): boolean =>
  (response?.status === 401 || response?.status === 403) && KeyError.safeParse(response.value).success;

interface JsonRequest {
  readonly apiKey: string | undefined;
  /** Makes the request a POST. */
  readonly body?: object;
  readonly limitMs?: number;
}

interface JsonResponse {
  readonly status: number;
  readonly value: unknown;
}

async function readJson(url: string, request: JsonRequest): Promise<unknown> {
  const response = await read(url, request);
  return response?.status === 200 ? response.value : undefined;
}

/** The JSON at a URL; `undefined` if the server does not respond with JSON. */
async function read(
  url: string,
  { apiKey, body, limitMs = RESPONSE_MS }: JsonRequest,
): Promise<JsonResponse | undefined> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(limitMs),
      redirect: 'error',
      headers: {
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    const text = await boundedText(response, RESPONSE_LIMIT_BYTES);
    return text === undefined ? undefined : { status: response.status, value: boundedJson(text) };
  } catch {
    // Nothing listens there, or it is not a model server.
    return undefined;
  }
}
