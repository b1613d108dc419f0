import { type InternalCall, type InternalClient, NeighbourUnavailable } from '@svc/runtime';

/** The worker's reply to a call. Throws `away()` without a reply, and the signal's reason after an abort. */
export async function workerReply(
  client: InternalClient,
  call: InternalCall,
  away: (cause?: Error) => Error,
): Promise<unknown> {
  const { signal } = call;
  signal?.throwIfAborted();
  try {
    const { status, text } = await client.ask(call);
    if (status !== 200) throw away();
    return JSON.parse(text);
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof NeighbourUnavailable ? away(error) : error;
  }
}
