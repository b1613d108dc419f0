import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from '@svc/runtime';

/** Settings shared by the processes of the cluster. Each gets those that it reads. */
export interface SharedSettings {
  readonly DATABASE_URL: string;
  readonly REDIS_URL: string;
  readonly KAFKA_BROKERS: string;
  readonly SVC_OPERATOR_TOKEN: string;
}

interface KindOptions {
  /** The folder in `apps`. */
  readonly app: string;
  /** The variable from which other processes read its address. */
  readonly urlVariable?:
    | 'GATEWAY_URL'
    | 'LEDGER_URL'
    | 'LIMITER_URL'
    | 'ROUTER_URL'
    | 'RETRIEVAL_URL'
    | 'PAYMENTS_URL'
    | 'MEDIA_JOBS_URL';
  readonly replicas: number;
  readonly ports: 1 | 2;
  readonly readyPath?: string;
}

/** The kinds of processes, in start order; they are stopped in reverse. */
export const KINDS = {
  simulator: { app: 'model-simulator', replicas: 1, ports: 1, readyPath: '/v1/models' },
  limiter: { app: 'rate-limiter', urlVariable: 'LIMITER_URL', replicas: 1, ports: 1 },
  router: { app: 'inference-router', urlVariable: 'ROUTER_URL', replicas: 1, ports: 1 },
  retrieval: { app: 'retrieval-worker', urlVariable: 'RETRIEVAL_URL', replicas: 1, ports: 1 },
  payments: { app: 'x402-payments', urlVariable: 'PAYMENTS_URL', replicas: 1, ports: 1 },
  ledger: { app: 'billing-ledger', urlVariable: 'LEDGER_URL', replicas: 1, ports: 1 },
  media: { app: 'media-worker', urlVariable: 'MEDIA_JOBS_URL', replicas: 1, ports: 1 },
  gateway: { app: 'api-gateway', urlVariable: 'GATEWAY_URL', replicas: 1, ports: 2 },
} as const satisfies Record<string, KindOptions>;

export type Kind = keyof typeof KINDS;
export type ReplicaCounts = Readonly<Partial<Record<Kind, number>>>;

export const kinds = Object.keys(KINDS) as readonly Kind[];

/** A random token for each service that others call, unless these settings have one for all of them. */
export function internalTokens({ SVC_INTERNAL_TOKEN: shared }: Environment = {}): Record<string, string> {
  if (shared !== undefined) return {};
  const variables = kinds.flatMap((kind) => tokenVariableOf(kind) ?? []);
  return Object.fromEntries(variables.map((name) => [name, randomBytes(32).toString('base64url')]));
}

/** The variable in which a service and its callers have its token. */
export function tokenVariableOf(kind: Kind): string | undefined {
  const options = KINDS[kind];
  return 'urlVariable' in options ? options.urlVariable.replace(/_URL$/, '_TOKEN') : undefined;
}

/** The checkout that contains this file. */
export const OWN_CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));

/** The compiled main of a kind, in a checkout. */
export function mainOf(kind: Kind, checkout: string): string {
  return join(checkout, 'apps', KINDS[kind].app, 'dist/main.js');
}

/** `gateway=3,router=2` as numbers of replicas. Throws RangeError on anything unknown. */
export function parseReplicas(text: string): ReplicaCounts {
  const replicas: Partial<Record<Kind, number>> = {};
  for (const part of text.split(',').filter((each) => each.trim() !== '')) {
    const [name = '', count = ''] = part.split('=').map((each) => each.trim());
    if (!Object.hasOwn(KINDS, name)) throw new RangeError(`${name}: there are ${kinds.join(', ')}`);
    if (!/^[1-9]\d?$/.test(count)) throw new RangeError(`${name}: a number of replicas is 1 to 99`);
    replicas[name as Kind] = Number(count);
  }
  return replicas;
}
