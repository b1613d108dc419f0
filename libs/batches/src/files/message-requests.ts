import { isUtf8 } from 'node:buffer';
import { BatchedMessage } from '@svc/api/messages';
import { BATCH_LINES } from '@svc/api/batches';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import { jsonMembers } from '@svc/paid/json';
import { jsonOrUndefined } from '@svc/runtime';
import { ListedValues } from './listed-values.js';

const LIST = 'requests';

/** The most bytes of a request, so that its line is not too long. */
const REQUEST_BYTES = 8_388_096;

/** Turns the document of a message batch into the lines of a file, as it comes. */
export class MessageRequests {
  private lines: Buffer[] = [];
  private readonly ids = new Set<string>();

  get count(): number {
    return this.ids.size;
  }

  /** Throws INVALID_JSON, INVALID_REQUEST. */
  async *linesOf(document: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const values = new ListedValues(LIST, REQUEST_BYTES, (value) => this.lines.push(this.lineOf(value)));
    for await (const part of document) {
      values.add(part);
      yield* this.lines.splice(0);
    }
    values.end();
  }

  private lineOf(value: Buffer): Buffer {
    const at = this.ids.size;
    if (at === BATCH_LINES) throw fault([LIST], `must be at most ${BATCH_LINES} requests`);
    const text = value.toString();
    const json = isUtf8(value) ? jsonOrUndefined(text) : undefined;
    if (json === undefined) throw new Problem('INVALID_JSON', { param: `${LIST}.${at}` });
    const read = BatchedMessage.safeParse(json);
    if (!read.success)
      throw invalidRequest(read.error.issues.map((issue) => ({ ...issue, path: [LIST, at, ...issue.path] })));
    const { custom_id: customId } = read.data;
    if (this.ids.has(customId)) throw fault([LIST, at, 'custom_id'], 'must not be that of another request');
    this.ids.add(customId);
    const params = (jsonMembers(text).get('params') ?? '{}').replaceAll(/[\r\n]+/g, ' ');
    return Buffer.from(`{"custom_id":"${customId}","method":"POST","url":"/v1/messages","body":${params}}\n`);
  }
}

const fault = (path: (string | number)[], message: string): Problem =>
  invalidRequest([{ code: 'custom', path, message }]);
