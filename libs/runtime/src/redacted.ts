/** The most characters of a foreign text in a log line. */
const LIMIT = 160;

/** A text is looked at up to here. Each of its characters is looked for in all that was said. */
const READ_LIMIT = 400;

/** What somebody said is taken out where so many characters of it follow each other. */
const SHARED_LENGTH = 12;

/** What somebody said is searched up to so many bytes; of longer texts nothing is believed to be foreign. */
const SAID_LIMIT = 65_536;

const GONE = '…';

/** What does not belong in a log, whoever wrote it: addresses, what may be a key, what is quoted, other scripts. */
const SECRETS: readonly RegExp[] = [
  /\b[a-z][a-z0-9+.-]{1,20}:\/\/\S+/gi,
  /\bbearer\s+\S+/gi,
  /(["'`])[^"'`]*(\1|$)/g,
  /[^\s\u0020-\u007e]+/g,
  /\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b/g,
  /\[?\b[0-9a-f]{0,4}::?[0-9a-f]{0,4}:[0-9a-f:.]{0,40}\]?(:\d+)?/gi,
  /\b[\w-]{1,63}(\.[\w-]{1,63})+(:\d+)?\b/g,
  /\b[a-z][\w-]{0,62}:\d{2,5}\b/gi,
  /\b\w{1,32}[-_][\w-]{12,}/g,
  /\b(?=\w*\d)(?=\w*[a-z])\w{12,}\b/gi,
  /\w{32,}/g,
];

/**
 * A text of a neighbour for a log line: short, on one line, without addresses, keys, quotations, or anything that the
 * neighbour repeats of the bytes that it was sent.
 */
export function redacted(text: string, sent: readonly Uint8Array[]): string {
  const sentBytes = sent.reduce((sum, { length }) => sum + length, 0);
  if (sentBytes > SAID_LIMIT) return GONE;
  let clean = withoutShared(text.slice(0, READ_LIMIT), Buffer.concat(sent).toString());
  for (const secret of SECRETS) clean = clean.replace(secret, GONE);
  clean = clean
    .replace(/\s+/g, ' ')
    .replace(/…( ?…)+/g, GONE)
    .trim();
  return clean.length > LIMIT ? `${clean.slice(0, LIMIT - 1).trimEnd()}${GONE}` : clean;
}

/** The text without its parts that occur in the other one. */
function withoutShared(text: string, sent: string): string {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const isShared = at + SHARED_LENGTH <= text.length && sent.includes(text.slice(at, at + SHARED_LENGTH));
    if (!isShared) {
      kept += text[at] ?? '';
      at += 1;
      continue;
    }
    let end = at + SHARED_LENGTH;
    while (end < text.length && sent.includes(text.slice(end - SHARED_LENGTH + 1, end + 1))) end += 1;
    kept += GONE;
    at = end;
  }
  return kept;
}
