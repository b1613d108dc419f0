import { type Connections, Exchange, ExchangeAborted, ExchangeTimedOut } from '@svc/runtime';
import type { BackendImage, Dialect, JobRequest, ServerCalls } from '../dialects/dialect.js';
import { fetchedImages } from './backend-images.js';
import type { LiveBackend } from './backend-pool.js';
import { refuseFailure } from './refuse-failure.js';

/** How long a call may take that is not for the images themselves. */
const CLEAN_UP_MS = 5_000;

interface CallSource {
  readonly connections: Connections;
  readonly live: LiveBackend;
  /** Those of every call of this request. */
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  /** For all calls together. */
  readonly limitMs: number;
  /** The most bytes of a response. */
  readonly limitBytes: number;
}

/** The images of a response in base64, or those that its server makes afterwards; at most `count`. */
export async function imagesIn(
  exchange: Exchange,
  source: CallSource & { readonly count: number },
): Promise<string[]> {
  const { dialect } = source.live;
  const body = await exchange.bytes(source.limitBytes);
  const found = dialect.queuedImages
    ? await queuedImages(dialect.queuedImages, body, source)
    : dialect.readImages(body);
  return fetchedImages(found.slice(0, source.count), source);
}

/** Waits for images that a server makes after its response. Throws ExchangeTimedOut after the deadline. */
async function queuedImages(
  wait: NonNullable<Dialect['queuedImages']>,
  body: Buffer,
  source: CallSource,
): Promise<BackendImage[]> {
  const deadline = AbortSignal.timeout(Math.ceil(source.limitMs));
  const signal = AbortSignal.any([source.signal, deadline]);
  const server: ServerCalls = {
    signal,
    call: (request) => answered(request, { ...source, signal }),
    cleanUp: (request) =>
      answered(request, { ...source, signal: AbortSignal.timeout(CLEAN_UP_MS), limitMs: CLEAN_UP_MS }),
  };
  try {
    return await wait(body, server);
  } catch (error) {
    if (source.signal.aborted) throw new ExchangeAborted('left while the images were made');
    throw deadline.aborted ? new ExchangeTimedOut(source.limitMs) : error;
  }
}

async function answered(
  { method, path, headers, body }: JobRequest,
  { connections, live, headers: ofAll, signal, limitMs, limitBytes }: CallSource,
): Promise<Buffer> {
  // All others change something at the server.
  const fresh = method === 'GET' ? connections.fresh : undefined;
  const request = {
    method,
    origin: live.origin,
    path: `${live.basePath}${path}`,
    headers: { ...ofAll, ...headers },
    pauseMs: limitMs,
    deadlineMs: limitMs,
    ...(body && { body }),
  };
  const exchange = await Exchange.start(connections.kept, request, { signal, onEnd: () => undefined, fresh });
  try {
    await refuseFailure(exchange);
    return await exchange.bytes(limitBytes);
  } finally {
    exchange.abort();
  }
}
