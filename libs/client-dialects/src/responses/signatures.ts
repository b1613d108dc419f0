import { type Fields, isFields } from '@svc/contracts/inference';
import { SIGNATURE_CHARACTERS } from '@svc/api/chat';
import type { JsonReader } from '@svc/runtime';

/** Members of a message by which backends recognise their own reasoning. */
const MEMBERS = ['reasoning_details', 'thought_signature'] as const;

/**
 * A backend's signatures of its reasoning as the `encrypted_content` of an item. Null if it sent none, or
 * more than clients may send back.
 */
export function encodedSignatures(message: Fields): string | null {
  const given = MEMBERS.filter((name) => message[name] !== undefined && message[name] !== null);
  if (given.length === 0) return null;
  const members = Object.fromEntries(given.map((name) => [name, message[name]]));
  const text = Buffer.from(JSON.stringify(members)).toString('base64');
  return text.length > SIGNATURE_CHARACTERS ? null : text;
}

/**
 * The members that were encoded; undefined if the text was not made by `encodedSignatures`. A request has one
 * reader for all of its texts.
 */
export function decodedSignatures(text: string, reader: JsonReader): Fields | undefined {
  let value: unknown;
  try {
    value = reader.read(Buffer.from(text, 'base64'));
  } catch {
    return undefined;
  }
  if (!isFields(value)) return undefined;
  const members = value;
  return Object.fromEntries(
    MEMBERS.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])),
  );
}
