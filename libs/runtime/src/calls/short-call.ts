import { Agent } from 'undici';
import type { RequestSender } from './connections.js';
import { Exchange, type ExchangeRequest } from './exchange.js';

/** The most bytes of a response. */
const LIMIT_BYTES = 65_536;
const CALL_MS = 10_000;

/** A request now and then to a server whose responses are short, over a connection of its own by default. */
export async function shortCall(
  url: string,
  request: Pick<ExchangeRequest, 'method' | 'headers' | 'body'>,
  sender?: RequestSender,
): Promise<{ status: number; text: string }> {
  const { origin, pathname, search } = new URL(url);
  const own = new Agent({ connect: { timeout: CALL_MS }, pipelining: 0 });
  try {
    const exchange = await Exchange.start(
      sender ?? own,
      { ...request, origin, path: `${pathname}${search}`, pauseMs: CALL_MS, deadlineMs: CALL_MS },
      { signal: undefined, onEnd: () => undefined },
    );
    return { status: exchange.status, text: await exchange.text(LIMIT_BYTES) };
  } finally {
    await own.destroy();
  }
}
