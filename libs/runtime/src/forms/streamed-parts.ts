import { type FormPart, HEAD_BYTES, LINE, PARTS_AT_MOST, boundaryOf, broken, headOf } from './form-parts.js';

/** A part of a form whose content has not been received yet. */
export interface StreamedPart extends Omit<FormPart, 'content'> {
  readonly content: AsyncIterable<Buffer>;
}

/**
 * The parts of a form (RFC 7578) as they come; what a part's reader leaves of it is skipped. Throws
 * INVALID_REQUEST.
 */
export async function* streamedParts(
  bytes: AsyncIterable<Buffer>,
  contentType: string,
): AsyncGenerator<StreamedPart> {
  const reader = new PartReader(bytes[Symbol.asyncIterator](), `${LINE}--${boundaryOf(contentType)}`);
  await skip(reader.content());
  for (let count = 0; await reader.hasNext(); count += 1) {
    if (count === PARTS_AT_MOST) throw broken(`it has more than ${PARTS_AT_MOST} parts`);
    const head = headOf(await reader.head());
    const content = reader.content();
    yield { ...head, content };
    await skip(content);
  }
}

class PartReader {
  /** The first boundary has no line before it. */
  private received: Buffer = Buffer.from(LINE);

  constructor(
    private readonly source: AsyncIterator<Buffer, unknown>,
    private readonly delimiter: string,
  ) {}

  /** Whether another part follows a boundary. */
  async hasNext(): Promise<boolean> {
    while (this.received.length < 2) await this.receive();
    const mark = this.received.toString('latin1', 0, 2);
    if (mark === '--') return false;
    if (mark !== LINE) throw broken('a boundary is not followed by a line end');
    this.received = this.received.subarray(2);
    return true;
  }

  async head(): Promise<string> {
    for (;;) {
      const end = this.received.indexOf(LINE + LINE);
      if (end !== -1 && end <= HEAD_BYTES) {
        const head = this.received.toString('utf8', 0, end);
        this.received = this.received.subarray(end + 2 * LINE.length);
        return head;
      }
      if (this.received.length > HEAD_BYTES) throw broken('a part has no head, or one that is too long');
      await this.receive();
    }
  }

  /** The bytes up to the next boundary. */
  async *content(): AsyncGenerator<Buffer> {
    for (;;) {
      const end = this.received.indexOf(this.delimiter, 0, 'latin1');
      if (end !== -1) {
        const last = this.received.subarray(0, end);
        this.received = this.received.subarray(end + this.delimiter.length);
        if (last.length > 0) yield last;
        return;
      }
      // The rest may be the beginning of a boundary.
      const sure = this.received.length - this.delimiter.length + 1;
      if (sure > 0) {
        const part = this.received.subarray(0, sure);
        this.received = this.received.subarray(sure);
        yield part;
      }
      await this.receive();
    }
  }

  private async receive(): Promise<void> {
    const next: IteratorResult<Buffer, unknown> = await this.source.next();
    if (next.done === true) throw broken('it ends within a part');
    this.received = this.received.length === 0 ? next.value : Buffer.concat([this.received, next.value]);
  }
}

async function skip(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const part of content) if (part.length === 0) continue;
}
