import { retrying } from '@svc/runtime';
import { MeasuredContent, MediaStore, type StoredObject, assertKey } from './media-store.js';
import { type S3Bucket, S3Calls, S3Refusal, elementsOf } from './s3-calls.js';

/** The smallest part that S3 accepts before the last one, and what is in memory of each object. */
const PART_BYTES = 5_242_880;

const PART_MS = 30_000;
const PART_ATTEMPTS = { attempts: 2, firstMs: 1_000, lastMs: 1_000 };
/** Servers put the parts together before they respond. */
const COMPLETE_MS = 60_000;
const SMALL_MS = 10_000;
/** The longest download, by a slow client. */
const READ_MS = 3_600_000;

/** An unfinished upload of an object. */
interface Upload {
  readonly object: string;
  readonly id: string;
}

/**
 * Objects in a bucket of an S3-compatible server, for any number of processes. An object of more than one
 * part is uploaded in parts, which show when all of them are there.
 */
export class S3MediaStore extends MediaStore {
  private readonly calls: S3Calls;

  constructor(bucket: S3Bucket) {
    super();
    this.calls = new S3Calls(bucket);
  }

  /** Rejects with S3Refusal if the bucket does not exist or the keys do not give access to it. */
  async check(): Promise<void> {
    const query = { uploads: '', 'max-uploads': '1' };
    await this.calls.ask({ operation: 'read', method: 'GET', query, deadlineMs: SMALL_MS });
  }

  override async put(
    key: string,
    content: AsyncIterable<Uint8Array>,
    limitBytes: number,
  ): Promise<StoredObject> {
    const object = this.objectOf(key);
    const measured = new MeasuredContent(limitBytes);
    const tags: string[] = [];
    let upload: Upload | undefined;
    try {
      for await (const { parts, isLast } of inParts(measured.of(content))) {
        if (isLast && !upload) await this.write(object, parts, {});
        else {
          upload ??= { object, id: await this.begin(object) };
          tags.push(
            await this.write(object, parts, { partNumber: String(tags.length + 1), uploadId: upload.id }),
          );
          if (isLast) await this.complete(upload, tags);
        }
      }
    } catch (error) {
      // If this fails too, `remove` ends the upload.
      if (upload) await this.abandon(upload).catch(() => undefined);
      throw error;
    }
    return measured.stored();
  }

  override async open(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const call = {
      operation: 'read',
      method: 'GET',
      object: this.objectOf(key),
      deadlineMs: SMALL_MS,
    } as const;
    const exchange = await this.calls.open(call).catch((error: unknown) => {
      if (error instanceof S3Refusal && error.status === 404) return undefined;
      throw error;
    });
    exchange?.endWithin(READ_MS);
    return (
      exchange &&
      (async function* () {
        try {
          for (let parts = await exchange.read(); parts.length > 0; parts = await exchange.read())
            yield* parts;
        } finally {
          exchange.abort();
        }
      })()
    );
  }

  /** Also ends uploads that killed processes have left. */
  override async remove(key: string): Promise<void> {
    const object = this.objectOf(key);
    await this.calls.ask({ operation: 'delete', method: 'DELETE', object, deadlineMs: SMALL_MS });
    const query = { uploads: '', prefix: object };
    const { text } = await this.calls.ask({
      operation: 'delete',
      method: 'GET',
      query,
      deadlineMs: SMALL_MS,
    });
    for (const id of elementsOf(text, 'UploadId')) await this.abandon({ object, id });
  }

  override urlOf(key: string, seconds: number): Promise<string | undefined> {
    return this.calls.urlOf(this.objectOf(key), seconds);
  }

  override close(): Promise<void> {
    return this.calls.close();
  }

  private objectOf(key: string): string {
    assertKey(key);
    return this.calls.nameOf(key);
  }

  private async begin(object: string): Promise<string> {
    const call = {
      operation: 'write',
      method: 'POST',
      object,
      query: { uploads: '' },
      deadlineMs: SMALL_MS,
    } as const;
    const { text } = await this.calls.ask(call);
    const [id] = elementsOf(text, 'UploadId');
    if (id === undefined) throw new TypeError('the storage server named no upload');
    return id;
  }

  /** Writes an object or a part, and returns its tag. */
  private async write(
    object: string,
    body: readonly Uint8Array[],
    query: Readonly<Record<string, string>>,
  ): Promise<string> {
    const call = { operation: 'write', method: 'PUT', object, query, body, deadlineMs: PART_MS } as const;
    const { headers } = await retrying(() => this.calls.ask(call), { ...PART_ATTEMPTS, isFinal });
    return String(headers['etag'] ?? '');
  }

  private async complete({ object, id }: Upload, tags: readonly string[]): Promise<void> {
    const parts = tags.map(
      (tag, at) =>
        `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag.replaceAll('"', '&quot;')}</ETag></Part>`,
    );
    const body = [Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)];
    const query = { uploadId: id };
    const call = {
      operation: 'write',
      method: 'POST',
      object,
      query,
      body,
      deadlineMs: COMPLETE_MS,
    } as const;
    const { text } = await this.calls.ask(call);
    // The status is sent before the parts are put together, which may fail.
    if (text.includes('<Error>')) throw new S3Refusal(200, elementsOf(text, 'Code')[0] ?? '', call);
  }

  private async abandon({ object, id }: Upload): Promise<void> {
    const query = { uploadId: id };
    await this.calls
      .ask({ operation: 'delete', method: 'DELETE', object, query, deadlineMs: SMALL_MS })
      .catch((error: unknown) => {
        if (!(error instanceof S3Refusal && error.status === 404)) throw error;
      });
  }
}

/** A rejection is final, except one of a server that is overloaded or failing. */
const isFinal = (error: unknown): boolean =>
  error instanceof S3Refusal && error.status < 500 && error.status !== 429;

/** Cuts content into parts of `PART_BYTES`; the last one may be shorter, or empty if it is the only one. */
async function* inParts(
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ parts: readonly Uint8Array[]; isLast: boolean }> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of content) {
    let rest = piece;
    while (rest.length > 0) {
      // A full part is sent once more content shows that it is not the last one.
      if (bytes === PART_BYTES) {
        yield { parts, isLast: false };
        parts = [];
        bytes = 0;
      }
      const taken = rest.subarray(0, PART_BYTES - bytes);
      parts.push(taken);
      bytes += taken.length;
      rest = rest.subarray(taken.length);
    }
  }
  yield { parts, isLast: true };
}
