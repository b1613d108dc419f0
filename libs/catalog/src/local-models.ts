import { access, writeFile } from 'node:fs/promises';
import { type Backend, type CatalogEntry, CatalogModel } from '@svc/contracts/catalog';
import { stringify } from 'yaml';
import { type Report, type ReportedModel, reportedModels } from './local-servers.js';

/** Where model servers listen by default. */
const USUAL_SERVERS: readonly Server[] = [
  { name: 'Ollama', url: 'http://127.0.0.1:11434/v1' },
  { name: 'llama.cpp', url: 'http://127.0.0.1:8080/v1' },
  { name: 'vLLM', url: 'http://127.0.0.1:8000/v1' },
  { name: 'LM Studio', url: 'http://127.0.0.1:1234/v1' },
  { name: 'LiteLLM', url: 'http://127.0.0.1:4000/v1' },
  { name: 'infinity', url: 'http://127.0.0.1:7997' },
];

const MODELS_PER_SERVER = 50;

/** The longest model name that a request may contain. */
const ID_LIMIT = 256;

/** For models whose server does not report a context length. */
const UNKNOWN_CONTEXT_TOKENS = 4_096;

const MOST_COMPLETION_TOKENS = 32_768;

interface Server {
  readonly name: string;
  readonly url: string;
}

interface KeyedServer extends Server {
  readonly kind?: Backend['kind'] | undefined;
  /** The environment variable with its key. */
  readonly apiKeyEnv: string | undefined;
}

/** A server that was found, with the ids of its models. */
export interface LocalServer extends Server {
  readonly models: readonly string[];
  /** Models of the server that are left out, with the reason. */
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

interface Search {
  readonly servers?: readonly Server[];
  /** Returns the environment variable that a backend's `apiKeyEnv` names. */
  readonly secret: (name: string) => string | undefined;
}

/** The models that are offered already. */
interface Models {
  readonly models: readonly CatalogEntry[];
}

interface Offer {
  readonly model: ReportedModel;
  readonly id: string;
  readonly aliases: readonly string[];
}

/**
 * At the first start, looks for model servers on this machine and writes their models to `path`, free of
 * charge, for the operator to keep, change or remove. Later starts leave the file alone. Names in the
 * catalogue keep their meaning.
 */
export async function offerLocalModels(
  path: string,
  catalog: Models,
  { servers = USUAL_SERVERS, secret }: Search,
): Promise<readonly LocalServer[]> {
  if (await exists(path)) return [];
  const taken = new Set(catalog.models.flatMap(({ id, aliases }) => [id, ...aliases].map(lower)));
  const keyed = servers.map((server) => ({ ...server, apiKeyEnv: keyFor(server, catalog) }));
  const reports = await Promise.all(
    keyed.map(async (server) => {
      const apiKey = server.apiKeyEnv === undefined ? undefined : secret(server.apiKeyEnv);
      return { server, report: await reportedModels(server.url, { most: MODELS_PER_SERVER, apiKey }) };
    }),
  );
  const found = reports.map(({ server, report }) =>
    select({ ...server, url: report.url, kind: report.kind }, report, taken),
  );
  const models = found.flatMap(({ server, offers }) => offers.map((offer) => entry(server, offer)));
  const comment =
    '# Models that were found on this machine at the first start. Yours to change: contexts and capabilities are what\n' +
    `# their servers report or do; otherwise ${UNKNOWN_CONTEXT_TOKENS} tokens, no tools and no vision.\n`;
  await writeFile(path, comment + stringify({ models }));
  return found.flatMap(({ server, offers, skipped }) =>
    offers.length + skipped.length === 0
      ? []
      : [{ name: server.name, url: server.url, models: offers.map(({ id }) => id), skipped }],
  );
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

/** The environment variable of a server's key, if a catalogue backend at the same address names one. */
function keyFor({ url }: Server, { models }: Models): string | undefined {
  return models
    .flatMap((model) => (model.type === 'text' ? model.backends : []))
    .find((backend) => backend.apiKeyEnv !== undefined && backend.url?.replace(/\/$/, '') === url)?.apiKeyEnv;
}

const lower = (name: string): string => name.toLowerCase();

/**
 * Splits a server's models into those that are offered and those that are skipped. Adds the new names to the
 * taken ones.
 */
function select(
  server: KeyedServer,
  { models, more, wantsKey }: Report,
  taken: Set<string>,
): { server: KeyedServer; offers: Offer[]; skipped: { name: string; reason: string }[] } {
  const offers: Offer[] = [];
  const skipped: { name: string; reason: string }[] = [];
  for (const model of models) {
    const id = baseName(model.id);
    const reason =
      faultOf(model, id) ?? (taken.has(lower(id)) ? `there is already a model ${id}` : undefined);
    if (reason !== undefined) {
      skipped.push({ name: model.id, reason });
      continue;
    }
    taken.add(lower(id));
    offers.push({ model, id, aliases: [] });
  }
  if (wantsKey) skipped.push({ name: 'all models', reason: keyFault(server) });
  if (more > 0) {
    const reason = `at most ${MODELS_PER_SERVER} models of a server are offered`;
    skipped.push({ name: `${more} more`, reason });
  }
  // After all ids are known, since the id of one model may be the short name of another.
  const withAliases = offers.map((offer) => {
    const alias = offer.id.replace(/(:latest|\.gguf)$/i, '');
    const isFree = alias !== '' && !taken.has(lower(alias));
    taken.add(lower(alias));
    return isFree ? { ...offer, aliases: [alias] } : offer;
  });
  return { server, offers: withAliases, skipped };
}

/**
 * The last part of a path such as `/models/tiny.gguf`; names such as `meta-llama/Llama-3.2-3B` stay
 * unchanged.
 */
function baseName(id: string): string {
  const isPath = /^([./~\\]|[a-z]:\\)/i.test(id) || /[/\\].*\.gguf$/i.test(id);
  return isPath ? (id.split(/[/\\]/).at(-1) ?? id) : id;
}

/** Why the server did not list its models. */
function keyFault({ url, apiKeyEnv }: KeyedServer): string {
  if (apiKeyEnv !== undefined)
    return `the server rejects the key in ${apiKeyEnv}, or the variable is not set`;
  return `the server wants a key; add them to the catalogue with backends of url ${url} and apiKeyEnv, the variable with the key`;
}

/** Why a model can't be offered under this id. */
function faultOf({ isEmbedding, dimensions }: ReportedModel, id: string): string | undefined {
  if (isEmbedding && dimensions === undefined)
    return 'it makes embeddings, but returned none for a short text';
  if (id.length > ID_LIMIT) return `its name has more than ${ID_LIMIT} characters`;
  if (CatalogModel.shape.id.safeParse(id).success) return undefined;
  return 'its name must begin with a letter or digit and have only letters, digits and . _ / @ : -';
}

function entry(server: KeyedServer, { model, id, aliases }: Offer): object {
  const { url, kind, apiKeyEnv } = server;
  const backend = {
    url,
    ...(kind && { kind }),
    model: model.id,
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
  };
  const { contextTokens = UNKNOWN_CONTEXT_TOKENS, tools, vision, dimensions } = model;
  return {
    id,
    name: `${id} (${server.name})`,
    ...(aliases.length > 0 && { aliases }),
    tier: 'XS',
    ...(dimensions === undefined
      ? {
          contextTokens,
          maxCompletionTokens: Math.min(contextTokens, MOST_COMPLETION_TOKENS),
          pricing: { input: 0, output: 0 },
          capabilities: {
            supportsFunctionCalling: tools,
            supportsVision: vision,
            supportsResponseSchema: true,
            supportsLogProbs: true,
          },
        }
      : {
          type: 'embedding',
          embeddingDimensions: dimensions,
          ...(model.contextTokens !== undefined && { maxInputTokens: model.contextTokens }),
          pricing: { input: 0 },
        }),
    backends: [backend],
  };
}
