import { access, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { z } from 'zod';

/** Where model servers listen when nobody tells them otherwise. */
const USUAL_SERVERS = [
  { name: 'Ollama', url: 'http://127.0.0.1:11434/v1' },
  { name: 'llama.cpp', url: 'http://127.0.0.1:8080/v1' },
  { name: 'vLLM', url: 'http://127.0.0.1:8000/v1' },
  { name: 'LM Studio', url: 'http://127.0.0.1:1234/v1' },
] as const;

/** A server on this machine answers at once or is not there. */
const ANSWER_MS = 500;

const MODELS_PER_SERVER = 50;

const Models = z.object({
  object: z.literal('list'),
  data: z.array(z.object({ id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._/@:-]*$/) })),
});

export interface LocalServer {
  readonly name: string;
  readonly url: string;
  readonly models: readonly string[];
}

/**
 * At the first start, looks for model servers on this machine and writes what they offer to `path`, free of charge,
 * for the operator to keep, change or empty. Later starts leave the file alone.
 */
export async function offerLocalModels(path: string): Promise<readonly LocalServer[]> {
  if (await exists(path)) return [];
  const found = (await Promise.all(USUAL_SERVERS.map(look))).filter((server) => server.models.length > 0);
  const taken = new Set<string>();
  const models = found.flatMap((server) =>
    server.models.filter((id) => !taken.has(id) && taken.add(id)).map((id) => offer(server, id)),
  );
  const comment = '# Models that were found on this machine at the first start. Yours to change.\n';
  await writeFile(path, comment + stringify({ models }));
  return found;
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

async function look(server: { name: string; url: string }): Promise<LocalServer> {
  try {
    const response = await fetch(`${server.url}/models`, {
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'error',
    });
    const { data } = Models.parse(await response.json());
    return { ...server, models: data.slice(0, MODELS_PER_SERVER).map(({ id }) => id) };
  } catch {
    // Nothing there, or something else than a model server.
    return { ...server, models: [] };
  }
}

function offer(server: LocalServer, id: string): object {
  return {
    id,
    name: `${id} (${server.name})`,
    tier: 'XS',
    contextTokens: 131_072,
    maxCompletionTokens: 32_768,
    pricing: { input: 0, output: 0 },
    capabilities: {
      supportsFunctionCalling: true,
      supportsVision: true,
      supportsResponseSchema: true,
      supportsLogProbs: true,
    },
    backends: [{ url: server.url, model: id }],
  };
}
