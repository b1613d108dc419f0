import type { BackendPool, LiveBackend } from '@svc/backend-calls';
import type { BackendImage } from '../dialect/dialect.js';

/** How long an image that a backend names by URL may take. */
const FETCH_MS = 60_000;

/** PNG, JPEG or WebP in base64. */
const IMAGE_HEAD = /^(?:iVBORw0KGgo|\/9j\/|UklGR)/;
const DATA_URL = /^data:[^,]*;base64,/i;
const DATA_URL_HEAD_CHARS = 256;

interface ImageSource {
  readonly pool: BackendPool;
  readonly live: LiveBackend;
  readonly signal: AbortSignal;
  readonly limitBytes: number;
}

/** The images of a response in base64. URLs are fetched from the backend itself, and from nowhere else. */
export async function fetchedImages(images: readonly BackendImage[], source: ImageSource): Promise<string[]> {
  const fetched: string[] = [];
  for (const image of images) {
    const base64 = 'base64' in image ? image.base64 : await base64At(image.url, source);
    const plain = base64.slice(DATA_URL.exec(base64.slice(0, DATA_URL_HEAD_CHARS))?.[0].length ?? 0);
    if (!IMAGE_HEAD.test(plain)) throw new Error('the response contains something that is not an image');
    fetched.push(plain);
  }
  return fetched;
}

async function base64At(text: string, { pool, live, signal, limitBytes }: ImageSource): Promise<string> {
  if (/^data:/i.test(text)) return text;
  const url = URL.parse(text, live.origin);
  if (url?.origin !== live.origin) throw new Error('an image of the response is at another host');
  const request = {
    method: 'GET' as const,
    origin: live.origin,
    path: `${url.pathname}${url.search}`,
    headers: {},
    pauseMs: FETCH_MS,
    deadlineMs: FETCH_MS,
  };
  return pool.callApart(request, { signal, mayRepeat: true }, async (exchange) => {
    if (exchange.status !== 200) throw new Error(`an image of the response has status ${exchange.status}`);
    return (await exchange.bytes(limitBytes)).toString('base64');
  });
}
