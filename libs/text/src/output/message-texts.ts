import { type Fields, fieldsOf, isFields } from '@svc/paid/json';

/** The members other than `reasoning_content` in which servers send reasoning as a text. */
export const OTHER_NAMES = ['reasoning', 'reasoning_text', 'thinking', 'thought'] as const;

/**
 * Lists of entries that clients send back, so that a model can resume its reasoning. They are passed on. Some
 * servers send the reasoning only there, others in a text as well.
 */
const DETAIL_LISTS = ['reasoning_details', 'thinking_blocks'] as const;

/** Members of an entry that identify it, or that only the server can read. */
const SEALED: ReadonlySet<string> = new Set(['type', 'id', 'index', 'format', 'signature', 'data']);

/** The types of content parts that are reasoning. */
const REASONING_PARTS: ReadonlySet<unknown> = new Set(['thinking', 'reasoning', 'reasoning_text', 'thought']);

/** Members of an entry or part that may be its text. */
const TEXTS = ['text', 'thinking', 'summary', 'reasoning', 'content'];

/**
 * Moves the texts of the messages or deltas of a choice to where clients expect them: `content` as a string,
 * and reasoning in `reasoning_content`, whatever the server calls it.
 */
export class TextPlaces {
  /** Whether the reasoning arrives apart from the lists of details, which then repeat it. */
  private hasReasoning = false;

  place(message: Fields): void {
    let reasoning = textOf(message['reasoning_content']);
    for (const name of OTHER_NAMES) {
      const { [name]: value } = message;
      if (value === undefined) continue;
      const text = textOf(value);
      if (reasoning === '') reasoning = text;
      if (value === '') message['reasoning_content'] ??= '';
      // What has no text that is known as one stays where it is.
      if (text !== '' || typeof value !== 'object' || value === null) message[name] = undefined;
    }
    const { content } = message;
    if (Array.isArray(content)) {
      const parts = fieldsOf(content);
      if (reasoning === '') reasoning = textOf(parts.filter(isReasoning));
      message['content'] = parts.map((part) => (isReasoning(part) ? '' : plainText(part['text']))).join('');
    }
    if (reasoning !== '') this.hasReasoning = true;
    else if (!this.hasReasoning) reasoning = detailsText(message);
    if (reasoning !== '') message['reasoning_content'] = reasoning;
  }
}

/** Removes readable reasoning. Signatures and encrypted reasoning stay, since clients send them back. */
export function removeReasoning(message: Fields): void {
  for (const name of ['reasoning_content', ...OTHER_NAMES])
    if (message[name] !== undefined) message[name] = undefined;
  for (const name of DETAIL_LISTS) {
    if (message[name] === undefined) continue;
    const sealed = fieldsOf(message[name]).filter(
      (entry) => isText(entry['signature']) || isText(entry['data']),
    );
    message[name] = sealed.length > 0 ? sealed.map(withoutTexts) : undefined;
  }
}

/** Whether a delta is empty. */
export function isEmptyDelta(delta: Fields): boolean {
  return Object.values(delta).every((value) => value === undefined || value === null || value === '');
}

/** Whether content consists only of text parts, which is allowed in a whole message. */
export function isTextParts(content: unknown): boolean {
  return Array.isArray(content) && content.every((part) => isFields(part) && part['type'] === 'text');
}

function isReasoning({ type }: Fields): boolean {
  return REASONING_PARTS.has(type);
}

/** The text of a value: itself, that of its entries, or the first of its members that has one. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join('');
  if (!isFields(value)) return '';
  for (const name of TEXTS) {
    const text = textOf(value[name]);
    if (text !== '') return text;
  }
  return '';
}

function detailsText(message: Fields): string {
  for (const name of DETAIL_LISTS) {
    const text = textOf(fieldsOf(message[name]));
    if (text !== '') return text;
  }
  return '';
}

function withoutTexts(entry: Fields): Fields {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => SEALED.has(name)));
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
