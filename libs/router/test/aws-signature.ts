import { createHash, createHmac } from 'node:crypto';

/** A request as a server gets it. */
export interface SignedRequest {
  readonly method: string;
  /** Without a query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=[^/]+\/(?<scope>[^,]+), SignedHeaders=(?<names>[^,]+), Signature=(?<signature>[0-9a-f]{64})$/;

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The path as it is signed: each segment is escaped once more than in the request. */
const twiceEscaped = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/**
 * Whether the `authorization` of a request is its signature by this secret. Written from the description of
 * Signature Version 4, without the library that signs.
 */
export function isSignedBy(secret: string, { method, path, headers, body }: SignedRequest): boolean {
  const {
    scope = '',
    names = '',
    signature,
  } = AUTHORIZATION.exec(String(headers['authorization']))?.groups ?? {};
  const values = names.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, twiceEscaped(path), '', values.join(''), names, sha256(body)].join('\n');
  const date = String(headers['x-amz-date']);
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return createHmac('sha256', key).update(text).digest('hex') === signature;
}
