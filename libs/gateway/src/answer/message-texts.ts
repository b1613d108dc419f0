import { type Fields, fieldsOf, isFields } from '../json/backend-json.js';

/**
 * Puts the texts of a message or a delta where clients look for them: what the model thought in `reasoning_content`
 * and under no other name, what it says in `content` as a string. Some backends say `reasoning`, or both; others
 * give `content` as parts, thoughts among them.
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

/** Whether there is nothing in a delta. */
export function saysNothing(delta: Fields): boolean {
  return Object.values(delta).every((value) => value === undefined || value === null || value === '');
}

/** Whether a content is parts of text and nothing else, which a whole message may have. */
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
