import type { InferenceCall } from '@svc/contracts';
import type { CallMode } from './call-mode.js';

/** For all nodes of a network together. Source: the public interface. */
const DEADLINE_MS = 30_000;

/** For a call that sends; whether a node has it is found out afterwards. */
const SEND_MS = 10_000;

/** How long a node may send nothing. */
const PAUSE_MS = 10_000;

/**
 * A call of blockchain nodes. Another node is called after a failure, or a response that is certainly not one
 * of JSON-RPC; the caller reads the rest.
 */
export function rpcMode(
  { kind, body }: InferenceCall,
  limitBytes: number,
): CallMode<{ readonly body: string }> {
  return {
    deadlineMs: kind === 'rpc-send' ? SEND_MS : DEADLINE_MS,
    pauseMs: PAUSE_MS,
    isStream: false,
    body: () => body,
    take: async (exchange) => {
      const text = await exchange.text(limitBytes);
      if (!/^\s*[[{]/.test(text)) throw new Error('the response is neither an object nor a list');
      return { body: text };
    },
  };
}
