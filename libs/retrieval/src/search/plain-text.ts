import { Parser } from 'htmlparser2';

/** How much of a text is read; far less is kept. */
const READ_CHARACTERS = 20_000;

const SKIPPED = new Set(['script', 'style', 'template']);

/** A text with or without markup as plain words on one line, with at most this number of characters. */
export function plainText(value: unknown, charactersAtMost: number): string {
  if (typeof value !== 'string') return '';
  const text = withoutMarkup(value.slice(0, READ_CHARACTERS))
    // Control and format characters, including the tags block, can carry invisible text.
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]+/gu, (found) => (/\p{Cc}/u.test(found) ? ' ' : ''))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return cut(text, charactersAtMost);
}

/** Cuts at the end of a word if one is near. */
function cut(text: string, charactersAtMost: number): string {
  if (text.length <= charactersAtMost) return text;
  const head = text.slice(0, Math.max(0, charactersAtMost - 1));
  const space = head.lastIndexOf(' ');
  const whole = space > charactersAtMost * 0.8 ? head.slice(0, space) : head.replace(/[\uD800-\uDBFF]$/, '');
  return `${whole.trimEnd()}…`;
}

function withoutMarkup(text: string): string {
  if (!/[<&]/.test(text)) return text;
  let plain = '';
  let skipping = 0;
  const parser = new Parser({
    onopentag: (name) => {
      if (SKIPPED.has(name)) skipping += 1;
    },
    onclosetag: (name) => {
      if (SKIPPED.has(name)) skipping -= 1;
    },
    ontext: (data) => {
      if (skipping === 0) plain += data;
    },
  });
  parser.end(text);
  return plain;
}
