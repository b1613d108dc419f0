import { Exchange } from '@svc/runtime';
import { type AwsKeys, AwsSigner, queryText } from '@svc/runtime/aws';
import { mediaJobs } from '@svc/telemetry';
import { Agent } from 'undici';

/** A bucket of an S3-compatible server, and the keys to it. */
export interface S3Bucket {
  /** Without the bucket. */
  readonly url: string;
  /** The same for clients, if they may read objects there. */
  readonly publicUrl?: string | undefined;
  readonly name: string;
  readonly region: string;
  /** What the names of all objects begin with. */
  readonly prefix: string;
  readonly credentials: AwsKeys | (() => Promise<AwsKeys>);
}

/** What a call is for, in metrics. */
type S3Operation = 'read' | 'write' | 'delete';

export interface S3Call {
  readonly operation: S3Operation;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The name of the object; without it, the call is about the bucket. */
  readonly object?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
  readonly deadlineMs: number;
}

/** The server rejected a call. */
export class S3Refusal extends Error {
  override readonly name = 'S3Refusal';

  constructor(
    readonly status: number,
    /** The code of S3, such as `NoSuchKey`; empty if the response has none. */
    readonly code: string,
    { method, query = {} }: S3Call,
  ) {
    const parameters = Object.keys(query).join('&');
    super(
      `the storage server responded with ${status} ${code} to ${method}${parameters && ` ?${parameters}`}`,
    );
  }
}

const CONNECT_MS = 5_000;
/** The longest pause within a response. */
const PAUSE_MS = 30_000;
/** The most bytes of a response that is no object. */
const REPLY_BYTES = 1_048_576;

/** Signed calls of an S3-compatible server, with the bucket in the path. */
export class S3Calls {
  private readonly agent = new Agent({ connect: { timeout: CONNECT_MS }, connections: null });
  private readonly signer: AwsSigner;
  private readonly base: URL;

  constructor(private readonly bucket: S3Bucket) {
    const { credentials, region } = bucket;
    this.base = new URL(bucket.url);
    this.signer = new AwsSigner({ service: 's3', region, credentials, isPathPlain: true });
  }

  /** The name of an object in the bucket. */
  nameOf(key: string): string {
    return `${this.bucket.prefix}${key}`;
  }

  /** A URL at which anyone may read an object for this time; undefined if there is no address for clients. */
  async urlOf(object: string, seconds: number): Promise<string | undefined> {
    const { publicUrl } = this.bucket;
    if (publicUrl === undefined) return undefined;
    const base = new URL(publicUrl);
    return this.signer.urlOf({ base, path: this.pathOf(base, object), seconds });
  }

  /** The text and headers of the response. Throws S3Refusal. */
  async ask(call: S3Call): Promise<{ text: string; headers: Exchange['headers'] }> {
    const exchange = await this.open(call);
    const text = await exchange.text(REPLY_BYTES);
    return { text, headers: exchange.headers };
  }

  /** Resolves when the head of the response has arrived. Throws S3Refusal. */
  async open(call: S3Call): Promise<Exchange> {
    try {
      const exchange = await Exchange.start(this.agent, await this.signed(call), {
        signal: undefined,
        onEnd: () => undefined,
      });
      if (exchange.status < 300) return exchange;
      const text = await exchange.beginning(REPLY_BYTES);
      throw new S3Refusal(exchange.status, elementsOf(text, 'Code')[0] ?? '', call);
    } catch (error) {
      // A missing object is no failure.
      if (!(error instanceof S3Refusal && error.status === 404))
        mediaJobs.storageFailures.add(1, call.operation);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private pathOf({ pathname }: URL, object: string | undefined): string {
    const root = `${pathname.replace(/\/$/, '')}/${this.bucket.name}`;
    return object === undefined ? root : `${root}/${object}`;
  }

  private async signed({ method, object, query = {}, body, deadlineMs }: S3Call) {
    const { base } = this;
    const { origin } = base;
    const path = this.pathOf(base, object);
    const length = body?.reduce((sum, part) => sum + part.length, 0) ?? 0;
    const headers = await this.signer.headersOf({ method, base, path, query, body: body ?? [] });
    const text = queryText(query);
    return {
      method,
      origin,
      path: `${path}${text && `?${text}`}`,
      headers: { ...headers, ...(method !== 'GET' && { 'content-length': String(length) }) },
      ...(body && { body }),
      pauseMs: PAUSE_MS,
      deadlineMs,
    };
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The texts of the elements with a name in a response of S3, which has no attributes there and no CDATA. */
export function elementsOf(xml: string, name: string): string[] {
  const found = xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'));
  return [...found].map(([, text = '']) =>
    text
      .replaceAll(/&#(\d{1,6});/g, (_, code: string) => String.fromCodePoint(Number(code)))
      .replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => ENTITIES[entity] ?? ''),
  );
}
