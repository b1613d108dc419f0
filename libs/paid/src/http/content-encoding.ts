import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);

/** Fast enough for every response. The highest levels save a few percent at many times the cost. */
const GZIP_LEVEL = 3;
const BROTLI_QUALITY = 4;

export type Encoding = 'gzip' | 'br';

/** An option that the library's types lack: which of two equally accepted encodings to choose. */
interface Preferring {
  encodings(available: string[], options: { preferred: string[] }): string[];
}

/** The encoding that a client prefers among those available, by its `Accept-Encoding` (RFC 9110 §12.5.3). */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const headers = { 'accept-encoding': acceptEncoding.toLowerCase().replaceAll('x-gzip', 'gzip') };
  const negotiator: Preferring = new Negotiator({ headers });
  const [chosen] = negotiator.encodings(['br', 'gzip', 'identity'], { preferred: ['br', 'gzip'] });
  return chosen === 'br' || chosen === 'gzip' ? chosen : undefined;
}

export function encode(body: string | Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'gzip') return gzipAsync(body, { level: GZIP_LEVEL });
  return brotliAsync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}
