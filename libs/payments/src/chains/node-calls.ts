import { payments } from '@svc/telemetry';

/** The peers that are called about payments of a rail. */
type Peer = 'node' | 'facilitator';

/** Calls a peer, and records the duration and failures. */
export async function timedCall<Value>(rail: string, peer: Peer, call: () => Promise<Value>): Promise<Value> {
  const startMs = performance.now();
  let error = 'failed';
  try {
    const value = await call();
    error = '';
    return value;
  } finally {
    payments.chainCalls.record((performance.now() - startMs) / 1_000, rail, peer, error);
    if (peer === 'node') payments.chainFailing.set(error === '' ? 0 : 1, rail);
  }
}
