import { type Agent, request } from 'undici';
import { boundedJson } from '@svc/runtime';
import {
  type Provider,
  ProviderFault,
  type ProviderHeaders,
  type ProviderQuery,
  type RawPage,
} from './provider.js';

/** Responses of search engines have some hundred kilobytes. */
export const RESPONSE_LIMIT_BYTES = 4_194_304;

/**
 * How long to rest a provider that rejects us, for example because of its key, or that is over its quota
 * without saying for how long.
 */
const REFUSED_MS = 60_000;
const QUOTA_MS = 30_000;
/** The longest rest that a provider may request. */
const REST_LIMIT_MS = 3_600_000;

/** The pages that a provider found. Throws ProviderFault, or the signal's reason. */
export async function callProvider(
  agent: Agent,
  provider: Provider,
  { query, deadlineMs, signal }: { query: ProviderQuery; deadlineMs: number; signal: AbortSignal },
): Promise<readonly RawPage[]> {
  const late = AbortSignal.timeout(Math.max(1, Math.ceil(Math.min(deadlineMs, provider.deadlineMs))));
  try {
    return provider.read(await responseOf(agent, { provider, query }, AbortSignal.any([signal, late])));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderFault) throw error;
    throw new ProviderFault(late.aborted ? 'it took too long' : 'its response is unusable', 0, {
      cause: error,
    });
  }
}

async function responseOf(
  agent: Agent,
  { provider, query }: { provider: Provider; query: ProviderQuery },
  signal: AbortSignal,
): Promise<unknown> {
  const { method, url, headers, body } = provider.request(query);
  const response = await request(url, {
    dispatcher: agent,
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
    signal,
  });
  const { statusCode: status, headers: received } = response;
  if (status >= 200 && status < 300) return boundedJson(await response.body.text());
  // The body may repeat the key, so it is discarded.
  await response.body.dump({ limit: 65_536, signal }).catch(() => undefined);
  throw refusal(status, provider.restSeconds?.(received) ?? retryAfter(received));
}

/** 402, 432 and 433 are quotas too: those of Exa, and of Tavily's plans. */
function refusal(status: number, restSeconds: number | undefined): ProviderFault {
  switch (status) {
    case 402:
    case 429:
    case 432:
    case 433:
      return new ProviderFault(`its quota is used up (${status})`, restMs(restSeconds));
    case 401:
    case 403:
      return new ProviderFault(`it rejects its API key (${status})`, REFUSED_MS);
    default:
      return new ProviderFault(`it responded with status ${status}`);
  }
}

/** Seconds, or a date. */
function retryAfter({ 'retry-after': header }: ProviderHeaders): number | undefined {
  if (typeof header !== 'string') return undefined;
  return Number.isFinite(Number(header)) ? Number(header) : (Date.parse(header) - Date.now()) / 1_000;
}

function restMs(seconds: number | undefined): number {
  return seconds !== undefined && seconds > 0 ? Math.min(seconds * 1_000, REST_LIMIT_MS) : QUOTA_MS;
}
