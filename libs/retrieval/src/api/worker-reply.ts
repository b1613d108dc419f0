import { type InternalCall, type InternalClient, NeighbourAway } from '@svc/runtime';

/** What the worker replies to a call. Throws `away()` where it can't, and the signal's reason where nobody waits. */
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
    throw error instanceof NeighbourAway ? away(error) : error;
  }
}
