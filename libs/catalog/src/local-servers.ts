import { z } from 'zod';
import { boundedJson } from '@svc/runtime';

/** Timeout for listing the models of a server on this machine, and for describing one. */
const RESPONSE_MS = 2_000;

const RESPONSE_LIMIT_BYTES = 4 * 1_048_576;

/** A model as its server describes it, without what the server does not report. */
export interface ReportedModel {
  readonly id: string;
  readonly contextTokens?: number;
  readonly tools: boolean;
  readonly vision: boolean;
  /** Whether the model makes embeddings instead of text. */
  readonly isEmbedding: boolean;
}

/** The properties that one API reports. */
type Details = { readonly [Name in keyof Omit<ReportedModel, 'id'>]?: ReportedModel[Name] | undefined };

const Count = z.int().positive().max(1_000_000_000).optional().catch(undefined);
const Flag = z.boolean().optional().catch(undefined);
const Names = z.array(z.string()).optional().catch(undefined);

/** OpenAI's list of models; vLLM adds the context length. */
const List = z.object({ object: z.literal('list'), data: z.array(z.unknown()) });
const Listed = z.object({ id: z.string(), max_model_len: Count });

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
  url: string,
  { most, apiKey }: { readonly most: number; readonly apiKey: string | undefined },
): Promise<Report> {
  const response = await read(`${url}/models`, { apiKey });
  const wantsKey = isUnauthorized(response);
  const list = List.safeParse(response?.status === 200 ? response.value : undefined);
  const all = (list.data?.data ?? []).flatMap((entry) => Listed.safeParse(entry).data ?? []);
  const listed = all.slice(0, most);
  if (listed.length === 0) return { models: [], more: 0, wantsKey };
  const { origin } = new URL(url);
  const [props, studio] = await Promise.all([
    // `/props` describes one model; with several there is no telling which.
    listed.length === 1 ? readJson(`${origin}/props`, { apiKey }) : undefined,
    readJson(`${origin}/api/v0/models`, { apiKey }),
  ]);
  const models = await Promise.all(
    listed.map(async ({ id, max_model_len: contextTokens }) => {
      const show = await readJson(`${origin}/api/show`, { apiKey, body: { model: id } });
      const details: readonly Details[] = [
        { contextTokens },
        ofProps(props),
        ofStudio(studio, id),
        ofShow(show),
      ];
      return { id, ...merged(details) };
    }),
  );
  return { models, more: all.length - listed.length, wantsKey };
}

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
    isEmbedding: capabilities?.includes('embedding') === true && !capabilities.includes('completion'),
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
async function read(url: string, { apiKey, body }: JsonRequest): Promise<JsonResponse | undefined> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(RESPONSE_MS),
      redirect: 'error',
      headers: {
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      size += part.length;
      if (size > RESPONSE_LIMIT_BYTES) return undefined;
      parts.push(part);
    }
    return { status: response.status, value: boundedJson(Buffer.concat(parts).toString()) };
  } catch {
    // Nothing listens there, or it is not a model server.
    return undefined;
  }
}
