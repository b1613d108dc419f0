import { type Fields, fieldsOf, isFields } from '../json/backend-json.js';

/**
 * Moves the texts of a message or delta to where clients expect them: reasoning only in `reasoning_content`,
 * and `content` as a string. Some backends use `reasoning`, or both names; others send `content` as parts,
 * including reasoning.
 */
export function placeTexts(message: Fields): void {
  const { content, reasoning } = message;
  if (reasoning !== undefined) {
    message['reasoning'] = undefined;
    if (typeof reasoning === 'string') message['reasoning_content'] ??= reasoning;
  }
  if (!Array.isArray(content)) return;
  const parts = fieldsOf(content);
  const thinking = textOf(parts.filter(isThought));
  message['content'] = textOf(parts.filter((part) => !isThought(part)));
  if (thinking !== '') message['reasoning_content'] ??= thinking;
}

/** Whether a delta is empty. */
export function isEmptyDelta(delta: Fields): boolean {
  return Object.values(delta).every((value) => value === undefined || value === null || value === '');
}

/** Whether content consists only of text parts, which is allowed in a whole message. */
export function isTextParts(content: unknown): boolean {
  return Array.isArray(content) && content.every((part) => isFields(part) && part['type'] === 'text');
}

function isThought(part: Fields): boolean {
  return part['type'] === 'thinking';
}

function textOf(parts: readonly Fields[]): string {
  return parts.map(partText).join('');
}

function partText(part: Fields): string {
  const { text, thinking } = part;
  if (typeof text === 'string') return text;
  return typeof thinking === 'string' ? thinking : textOf(fieldsOf(thinking));
}
