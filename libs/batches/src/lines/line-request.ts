import { isUtf8 } from 'node:buffer';
import type { BatchEndpoint } from '@svc/api/batches';
import { jsonMembers } from '@svc/paid/json';
import { jsonOrUndefined } from '@svc/runtime';
import type { FileLine } from '../files/line-splitter.js';

/** The most bytes of a line. */
export const LINE_BYTES = 8_388_608;

const CUSTOM_ID_LENGTH = 256;

/** Why a line cannot be sent. */
export interface LineFault {
  readonly code: string;
  readonly message: string;
}

/** A line as read: its request, or its fault. */
export interface ReadLine {
  readonly number: number;
  readonly customId: string | undefined;
  /** The JSON of the request, byte for byte. */
  readonly body: Buffer | undefined;
  readonly fault: LineFault | undefined;
}

/** Reads a line, whose `url` must be the endpoint of its batch. */
export function readLine({ number, bytes }: FileLine, endpoint: BatchEndpoint): ReadLine {
  const refused = (code: string, why: string, customId?: string): ReadLine => ({
    number,
    customId,
    body: undefined,
    fault: { code, message: `Line ${number}: ${why}` },
  });
  if (!bytes) return refused('line_too_long', `it has more than ${LINE_BYTES} bytes.`);
  const text = bytes.toString();
  const value = isUtf8(bytes) ? jsonOrUndefined(text) : undefined;
  if (!isObject(value)) return refused('invalid_json', 'it is not a JSON object in UTF-8.');
  const { custom_id: customId, method, url, body } = value;
  if (!isCustomId(customId))
    return refused(
      'invalid_custom_id',
      `\`custom_id\` must be a text of 1 to ${CUSTOM_ID_LENGTH} characters.`,
    );
  const faulty = (code: string, why: string): ReadLine => refused(code, why, customId);
  if (method !== 'POST') return faulty('invalid_method', '`method` must be `POST`.');
  if (url !== endpoint)
    return faulty('invalid_url', `\`url\` must be the endpoint of the batch, \`${endpoint}\`.`);
  if (!isObject(body)) return faulty('invalid_body', '`body` must be an object.');
  if (body['stream'] === true)
    return faulty('stream_not_supported', '`body.stream` must not be true: results are files.');
  const sent = jsonMembers(text).get('body') ?? '{}';
  return { number, customId, body: Buffer.from(sent), fault: undefined };
}

export const duplicate = (number: number, customId: string, first: number): ReadLine => ({
  number,
  customId,
  body: undefined,
  fault: {
    code: 'duplicate_custom_id',
    message: `Line ${number}: \`custom_id\` is the same as that of line ${first}.`,
  },
});

/** Characters that the database does not store cannot be in an id. */
const isCustomId = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length >= 1 &&
  value.length <= CUSTOM_ID_LENGTH &&
  !value.includes('\0') &&
  value.isWellFormed();

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
