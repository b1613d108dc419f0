import { Injectable } from '@nestjs/common';
import { BATCH_FILE_BYTES, FileFields } from '@svc/api/batches';
import { FileBlocks } from '@svc/contracts/ports';
import { Problem, invalidRequest, validate } from '@svc/contracts/problems';
import { GatewaySettings } from '@svc/paid';
import { type StreamedPart, jsonOrUndefined, newId, streamedParts } from '@svc/runtime';
import { writeBlocks } from './blocks.js';
import { type FileRecord, FileStore } from './file.store.js';
import { LineSplitter } from './line-splitter.js';
import { MessageRequests } from './message-requests.js';

/** The most uploads of an account that a process receives at once: each has a block in memory. */
const UPLOADS_AT_ONCE = 4;

const RETRY_SECONDS = 5;
const DAY_SECONDS = 86_400;

/** The most bytes of a member that is no file. */
const MEMBER_BYTES = 1_024;

const FILENAME_LENGTH = 255;

export const newFileId = (): string => `file-${newId()}`;

interface Written {
  readonly filename: string;
  readonly bytes: number;
  readonly blocks: number;
  readonly lines: number;
}

/** Receives files, of which a block at a time is in memory. */
@Injectable()
export class Uploads {
  private readonly open = new Map<string, number>();

  constructor(
    private readonly files: FileStore,
    private readonly blocks: FileBlocks,
    private readonly settings: GatewaySettings,
  ) {}

  /**
   * Stores the file of a form. Rejects: INVALID_REQUEST, PAYLOAD_TOO_LARGE, REQUEST_INCOMPLETE,
   * TOO_MUCH_AT_ONCE, FILE_STORAGE_FULL, NOT_AVAILABLE, UNAVAILABLE.
   */
  receive(accountId: string, body: AsyncIterable<Buffer>, contentType: string): Promise<FileRecord> {
    const parts = streamedParts(body, contentType);
    return this.counted(accountId, (id) => this.stored(id, accountId, parts));
  }

  /** Stores the requests of a document as the lines of a file. Rejects: as `receive`; INVALID_JSON. */
  receiveRequests(accountId: string, body: AsyncIterable<Buffer>): Promise<FileRecord> {
    return this.counted(accountId, async (id) => {
      const { GATEWAY_FILE_ACCOUNT_BYTES: accountBytes } = this.settings.config;
      await this.files.begin({ id, accountId, purpose: 'message_batch' }, accountBytes);
      const requests = new MessageRequests();
      const written = await writeBlocks(this.blocks, id, requests.linesOf(body));
      const { count: lines } = requests;
      return this.kept({ id, filename: 'requests.jsonl', lines, ...written });
    });
  }

  private async counted(
    accountId: string,
    receive: (id: string) => Promise<FileRecord>,
  ): Promise<FileRecord> {
    const count = this.open.get(accountId) ?? 0;
    if (count >= UPLOADS_AT_ONCE) throw new Problem('TOO_MUCH_AT_ONCE', { retryAfterSeconds: RETRY_SECONDS });
    this.open.set(accountId, count + 1);
    const id = newFileId();
    try {
      return await receive(id);
    } catch (error) {
      // If this fails too, it is deleted later.
      await this.files.abandon(id).catch(() => undefined);
      throw error;
    } finally {
      const left = (this.open.get(accountId) ?? 1) - 1;
      if (left === 0) this.open.delete(accountId);
      else this.open.set(accountId, left);
    }
  }

  private async stored(
    id: string,
    accountId: string,
    parts: AsyncIterable<StreamedPart>,
  ): Promise<FileRecord> {
    const { GATEWAY_FILE_ACCOUNT_BYTES: accountBytes } = this.settings.config;
    const members = new Map<string, string>();
    let written: Written | undefined;
    for await (const part of parts) {
      if (part.name !== 'file') members.set(part.name, await memberOf(part));
      else if (!part.file) throw fieldFault('file', 'must be a file');
      else if (written) throw fieldFault('file', 'must be one file');
      else {
        // Without it, blocks of an upload that breaks off would not be found again.
        await this.files.begin({ id, accountId, purpose: 'batch' }, accountBytes);
        written = await this.written(id, part);
      }
    }
    const fields = validate(FileFields, fieldsOf(members));
    if (!written) throw fieldFault('file', 'must be given');
    if (written.bytes === 0) throw fieldFault('file', 'must not be empty');
    return this.kept({ id, ...written }, fields.expires_after?.seconds);
  }

  private async kept(
    file: Written & Pick<FileRecord, 'id'>,
    keptSeconds = this.settings.config.GATEWAY_FILE_RETENTION_DAYS * DAY_SECONDS,
  ): Promise<FileRecord> {
    const stored = await this.files.stored(file, keptSeconds);
    if (!stored) throw new Problem('REQUEST_INCOMPLETE');
    return stored;
  }

  private async written(id: string, { content, file }: StreamedPart): Promise<Written> {
    let lines = 0;
    const counted = new LineSplitter(0, () => (lines += 1));
    const written = await writeBlocks(this.blocks, id, passed(bounded(content), counted));
    const filename = (file?.name ?? 'upload.jsonl').replaceAll('\0', '').slice(-FILENAME_LENGTH);
    return { filename, lines, ...written };
  }
}

async function* bounded(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const part of content) {
    bytes += part.length;
    if (bytes > BATCH_FILE_BYTES) {
      const message = `file: the file is over ${BATCH_FILE_BYTES.toLocaleString('en')} bytes`;
      throw new Problem('PAYLOAD_TOO_LARGE', { message, param: 'file' });
    }
    yield part;
  }
}

async function* passed(content: AsyncIterable<Buffer>, lines: LineSplitter): AsyncGenerator<Buffer> {
  for await (const part of content) {
    lines.add(part);
    yield part;
  }
  lines.end();
}

async function memberOf({ name, content }: StreamedPart): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of content) {
    bytes += part.length;
    if (bytes > MEMBER_BYTES) throw fieldFault(name, `must have at most ${MEMBER_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** The members by name, those of `expires_after` in an object of their own. */
const fieldsOf = (members: ReadonlyMap<string, string>): object => ({
  purpose: members.get('purpose'),
  expires_after: expiryOf(members),
});

/** As JSON, or with a member of the form for each of its members, as OpenAI's clients write it. */
function expiryOf(members: ReadonlyMap<string, string>): unknown {
  const json = members.get('expires_after');
  if (json !== undefined) return jsonOrUndefined(json) ?? json;
  const anchor = members.get('expires_after[anchor]');
  const seconds = members.get('expires_after[seconds]');
  if (anchor === undefined && seconds === undefined) return undefined;
  return { anchor, seconds: /^\d{1,9}$/.test(seconds ?? '') ? Number(seconds) : seconds };
}

const fieldFault = (name: string, message: string): Problem =>
  invalidRequest([{ code: 'custom', path: [name], message }]);
