import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keyNames, readCatalog } from '@svc/catalog';
import type { Environment } from '@svc/runtime';
import { KINDS, type Kind } from './kinds.js';

/** The settings of each process of a checkout, as in its chart: generated from the schemas that read them. */
const SETTINGS = 'deploy/charts/platform/files/settings.json';

/** Variables that any program may need. */
const SYSTEM = ['PATH', 'HOME', 'TZ', 'LANG', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS'];

interface KnownSettings {
  readonly needed: readonly string[];
  readonly optional: readonly string[];
}

/**
 * Selects the variables for a process of each kind: the settings that it reads, and the keys that the
 * catalogue names for it. So each has its own secrets and no others, as in the chart and in compose.yaml.
 */
export async function environments(
  checkout: string,
): Promise<(kind: Kind, env: Environment) => Promise<Environment>> {
  const text = await readFile(join(checkout, SETTINGS), 'utf8');
  const settings = JSON.parse(text) as Readonly<Record<string, KnownSettings>>;
  return async (kind, env) => {
    const { needed = [], optional = [] } = settings[KINDS[kind].app] ?? {};
    const names = [...SYSTEM, ...needed, ...optional, ...(await keysOf(kind, env))];
    return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
  };
}

/** The variables that the catalogue names for the kind. The processes report an unreadable catalogue. */
async function keysOf(kind: Kind, { SVC_CATALOG: path = 'catalog.yaml' }: Environment): Promise<string[]> {
  if (kind !== 'router' && kind !== 'retrieval') return [];
  const catalog = await readCatalog(path).catch(() => undefined);
  if (!catalog) return [];
  return [...keyNames(catalog)[kind === 'router' ? 'backends' : 'searches']];
}
