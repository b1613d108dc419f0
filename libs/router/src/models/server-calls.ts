import { type BackendPool, type LiveBackend, type PlannedRequest, refuseFailure } from '@svc/backend-calls';
import { ExchangeAborted, ExchangeTimedOut, type Exchange } from '@svc/runtime';
import type { BackendImage, ImagesDialect, ServerCalls } from '../dialect/dialect.js';
import { fetchedImages } from './backend-images.js';

/** How long a call may take that is not for the images themselves. */
const CLEAN_UP_MS = 5_000;

interface CallSource {
  readonly pool: BackendPool;
  readonly live: LiveBackend;
  /** Those of every call of this request. */
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal;
  /** For all calls together. */
  readonly limitMs: number;
  /** The most bytes of a response. */
  readonly limitBytes: number;
}

interface ImageSource extends CallSource {
  readonly images: ImagesDialect;
  /** The most images. */
  readonly count: number;
}

/** The images of a response in base64, or those that its server makes afterwards. */
export async function imagesIn(exchange: Exchange, source: ImageSource): Promise<string[]> {
  const found = await readImages(await exchange.bytes(source.limitBytes), source);
  return fetchedImages(found.slice(0, source.count), source);
}

/** Throws ExchangeTimedOut if images that a server makes after its response are too late. */
async function readImages(body: Buffer, source: ImageSource): Promise<BackendImage[]> {
  const deadline = AbortSignal.timeout(Math.ceil(source.limitMs));
  const signal = AbortSignal.any([source.signal, deadline]);
  const server: ServerCalls = {
    signal,
    call: (request) => responseTo(request, { ...source, signal }),
    cleanUp: (request) =>
      responseTo(request, { ...source, signal: AbortSignal.timeout(CLEAN_UP_MS), limitMs: CLEAN_UP_MS }),
  };
  try {
    return await source.images.read(body, server);
  } catch (error) {
    if (source.signal.aborted) throw new ExchangeAborted('left while the images were made');
    throw deadline.aborted ? new ExchangeTimedOut(source.limitMs) : error;
  }
}

function responseTo(
  { path, headers, ...request }: PlannedRequest,
  { pool, live, headers: ofAll, signal, limitMs, limitBytes }: CallSource,
): Promise<Buffer> {
  const whole = {
    ...request,
    origin: live.origin,
    path: `${live.basePath}${path}`,
    headers: { ...ofAll, ...headers },
    pauseMs: limitMs,
    deadlineMs: limitMs,
  };
  // All others change something at the server.
  const mayRepeat = request.method === 'GET';
  return pool.callApart(whole, { signal, mayRepeat }, async (exchange) => {
    await refuseFailure(exchange);
    return exchange.bytes(limitBytes);
  });
}
