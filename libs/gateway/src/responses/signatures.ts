import { type Fields, isFields } from '../json/backend-json.js';

/** Members of a message by which backends recognise their own reasoning. */
const MEMBERS = ['reasoning_details', 'thought_signature'] as const;

/** A backend's signatures of its reasoning as the `encrypted_content` of an item; null if it sent none. */
export function encodedSignatures(message: Fields): string | null {
  const given = MEMBERS.filter((name) => message[name] !== undefined && message[name] !== null);
  if (given.length === 0) return null;
  const members = Object.fromEntries(given.map((name) => [name, message[name]]));
  return Buffer.from(JSON.stringify(members)).toString('base64');
}

/** The members that were encoded; undefined if the text was not made by `encodedSignatures`. */
export function decodedSignatures(text: string): Fields | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, 'base64').toString());
  } catch {
    return undefined;
  }
  if (!isFields(value)) return undefined;
  const members = value;
  return Object.fromEntries(
    MEMBERS.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])),
  );
}
