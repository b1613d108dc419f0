import { type Fields, REASONING_LISTS, REASONING_NAMES, fieldsOf, isFields } from '@svc/contracts/inference';

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
    for (const name of REASONING_NAMES) {
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
  for (const name of REASONING_LISTS) {
    const text = textOf(fieldsOf(message[name]));
    if (text !== '') return text;
  }
  return '';
}

function plainText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
