import type { Incoming } from './incoming.js';

/** Does work for a request, and aborts it when the client disconnects. */
export async function whileConnected<Result>(
  { raw: { socket } }: Incoming,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  socket.once('close', leave);
  try {
    return await work(leaving.signal);
  } finally {
    // A keep-alive connection serves many requests.
    socket.off('close', leave);
  }
}
