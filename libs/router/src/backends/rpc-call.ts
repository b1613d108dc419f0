import type { NetworkCall, Served } from '@svc/contracts/inference';
import { type Exchange, jsonOrUndefined } from '@svc/runtime';
import { BackendError } from '../dialects/backend-error.js';
import { z } from 'zod';
import type { LiveBackend } from './backend-pool.js';
import type { CallMode } from './call-mode.js';
import { refuseFailure } from './refuse-failure.js';

/** For all nodes of a network together. Source: the public interface. */
const DEADLINE_MS = 30_000;

/** For one node; for a call that sends, for all of them. Whether a node has it is found out afterwards. */
const ATTEMPT_MS = 10_000;

/** The status with which some nodes send errors of JSON-RPC. */
const REJECTED = 400;
const REJECTION_BYTES = 65_536;

/** The errors of JSON-RPC in the response. Throws BackendError if it has none. */
async function rejectionOf(exchange: Exchange): Promise<string> {
  const text = await exchange.beginning(REJECTION_BYTES);
  if (hasError(text)) return text;
  throw new BackendError(exchange.status, text);
}

const RpcError = z.object({ error: z.object({ code: z.number() }) });

function hasError(text: string): boolean {
  return [jsonOrUndefined(text)].flat().some((item) => RpcError.safeParse(item).success);
}

/** What is known of nodes. */
interface NodeFacts {
  readonly nodes: { readonly finalizedOf: (live: LiveBackend) => number | undefined };
  readonly requests: { readonly credentialsOf: (live: LiveBackend) => readonly string[] };
}

/** Shorter ones occur in data by chance. */
const SHORTEST_CREDENTIAL = 8;

/** The response of a node that repeats its credentials, without them. */
const without = (credentials: readonly string[], text: string): string =>
  credentials
    .filter(({ length }) => length >= SHORTEST_CREDENTIAL)
    .reduce((rest, each) => rest.replaceAll(each, '…'), text);

/**
 * A call of blockchain nodes. Another node is called after a failure, or a response that is certainly not one
 * of JSON-RPC; the caller reads the rest.
 */
export function rpcMode(
  { kind, body }: Pick<NetworkCall, 'body'> & { readonly kind: 'rpc' | 'rpc-send' },
  limitBytes: number,
  { nodes, requests }: NodeFacts,
): CallMode<Pick<Served<string>, 'result' | 'finalizedBlock'>> {
  return {
    deadlineMs: kind === 'rpc-send' ? ATTEMPT_MS : DEADLINE_MS,
    attemptMs: ATTEMPT_MS,
    pauseMs: ATTEMPT_MS,
    isStream: false,
    body: () => body,
    anyStatus: true,
    take: async (exchange, live) => {
      if (exchange.status === REJECTED)
        return { result: without(requests.credentialsOf(live), await rejectionOf(exchange)) };
      await refuseFailure(exchange);
      const text = without(requests.credentialsOf(live), await exchange.text(limitBytes));
      if (!/^\s*[[{]/.test(text)) throw new Error('the response is neither an object nor a list');
      const finalizedBlock = nodes.finalizedOf(live);
      return { result: text, ...(finalizedBlock !== undefined && { finalizedBlock }) };
    },
  };
}
