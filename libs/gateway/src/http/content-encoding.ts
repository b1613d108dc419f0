import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);

/** Quick enough for every answer; the highest levels save a few percent for many times the work. */
const GZIP_LEVEL = 3;
const BROTLI_QUALITY = 4;

export type Encoding = 'gzip' | 'br';

/** What its types leave out: which of two that a client likes equally is taken. */
interface Preferring {
  encodings(available: string[], options: { preferred: string[] }): string[];
}

/** The encoding that a client prefers of those on offer, by its `Accept-Encoding` (RFC 9110 §12.5.3). */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const headers = { 'accept-encoding': acceptEncoding.toLowerCase().replaceAll('x-gzip', 'gzip') };
  const negotiator: Preferring = new Negotiator({ headers });
  const [chosen] = negotiator.encodings(['br', 'gzip', 'identity'], { preferred: ['br', 'gzip'] });
  return chosen === 'br' || chosen === 'gzip' ? chosen : undefined;
}

export function encode(body: string, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return gzipAsync(body, { level: GZIP_LEVEL });
  return brotliAsync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}
