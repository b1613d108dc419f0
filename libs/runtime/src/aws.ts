import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';

/** Keys that sign requests; temporary ones have a token. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

interface SignerOptions {
  readonly service: string;
  readonly region: string;
  readonly credentials: AwsKeys | (() => Promise<AwsKeys>);
  /** Whether the service signs the path as it is in the request. Default: with each `%` escaped once more. */
  readonly isPathPlain?: boolean;
}

interface UnsignedRequest {
  readonly method: string;
  /** Where the request goes; its path is in `path`. */
  readonly base: URL;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
}

/** Signs requests to services of AWS, and to those that have the same API, by Signature Version 4. */
export class AwsSigner {
  private readonly signer: SignatureV4;

  constructor({ service, region, credentials, isPathPlain = false }: SignerOptions) {
    this.signer = new SignatureV4({
      service,
      region,
      credentials,
      sha256: Sha256,
      uriEscapePath: !isPathPlain,
    });
  }

  /** The headers of the request with its signature. */
  async headersOf(request: UnsignedRequest): Promise<Record<string, string>> {
    const { method, base, path, query = {}, headers: given, body } = request;
    const { host, hostname, protocol } = base;
    const hash = { 'x-amz-content-sha256': sha256Of(body) };
    const { headers } = await this.signer.sign({
      method,
      protocol,
      hostname,
      path,
      query: { ...query },
      headers: { ...given, host, ...hash },
    });
    return headers;
  }

  /** The URL of a GET with its signature, for anyone who has it. */
  async urlOf({ base, path, seconds }: ReadRequest): Promise<string> {
    const { host, hostname, protocol, origin } = base;
    const headers = { host, 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' };
    const request = { method: 'GET', protocol, hostname, path, query: {}, headers };
    const { query = {} } = await this.signer.presign(request, { expiresIn: seconds });
    return `${origin}${path}?${queryText(query as Record<string, string>)}`;
  }
}

/** A query as it is signed: with each space as `%20`. */
export const queryText = (query: Readonly<Record<string, string>>): string =>
  new URLSearchParams(query).toString().replaceAll('+', '%20');

interface ReadRequest {
  /** Where the request goes; its path is in `path`. */
  readonly base: URL;
  readonly path: string;
  /** How long its URL is valid. */
  readonly seconds: number;
}

function sha256Of(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** The hash that the signer needs. */
class Sha256 {
  private readonly hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.hash = secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: Uint8Array): void {
    this.hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.hash.digest());
  }

  reset(): void {
    throw new TypeError('each hash is used once');
  }
}

function bytesOf(secret: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof secret === 'string') return Buffer.from(secret);
  if (secret instanceof ArrayBuffer) return Buffer.from(secret);
  return Buffer.from(secret.buffer, secret.byteOffset, secret.byteLength);
}
