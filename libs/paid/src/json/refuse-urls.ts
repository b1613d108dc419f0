import { type Problem, invalidRequest } from '@svc/contracts/problems';

/** The most characters in all fields for a model server, besides data. More than any of its options needs. */
const CHARACTERS = 262_144;

/**
 * Media in the request itself: a data URL that names nothing else, or base64 that cannot be taken for
 * `//host/path`.
 */
const DATA = /^(?:data:[^:]*|(?!\/\/)[\w+/=-]*)$/i;

/** Readers of URLs drop some or all of these, at the ends or anywhere. */
const DROPPED = /[\p{Cc}\p{Cf}]/gu;

/**
 * How a URL begins: any scheme with a slash, which may follow other schemes; a scheme that needs no slash; or
 * a host of the reader's own scheme. Some readers take backslashes for slashes. `Note: this` is no URL.
 */
const URL_START =
  /^(?:[a-z][\w+.,-]*:)+[\\/]|^(?:[a-z][\w+.,-]*:)*(?:https?|ftps?|wss?|file):\S|^[\\/]{2,}[^\s\\/]/i;

/** A single word that contains a URL or a path of some scheme, such as `a|http://b` or `s3:bucket/a`. */
const URL_WORD = /:[\\/]{2}|^[a-z][\w+.,-]*:.*[\\/]/i;

/** Some servers read JSON, YAML or the like from a text. */
const STRUCTURE = /^[[{("'<]/;

/** A URL anywhere in such a text. */
const URL_INSIDE =
  /:[\\/]{2}|\b(?:https?|ftps?|wss?|file):[^\s"']|["'[({,:=|\s](?:[a-z][\w+.-]*:[\\/]|[\\/]{2,}[^\s\\/])/i;

/** What stands between the texts of a structure. */
const BETWEEN = /["'[\](){}<>]+/;

/** Base64 may contain `//`. It ends where other characters follow. */
const DATA_INSIDE = /data:[\w/+.;=-]*;base64,[A-Za-z0-9+/=]*(?![\w:])/gi;

/** Escapes of JSON, YAML and Python. */
const ESCAPE = /\\(?:u00|x|U000000)([0-7][\da-fA-F])|\\([\s\S]?)/g;
const NO_SPACE: ReadonlySet<string> = new Set('bfnrtv0');

/** The most texts within texts; each is escaped once more than the one around it. */
const ESCAPED_AT_MOST = 16;

/**
 * Refuses fields for a model server with a URL at any depth, in names too. Model servers fetch some of
 * theirs, such as `ref_audio` of vLLM-Omni, from addresses that clients must not reach. Texts are searched
 * and not parsed, since a server may read them otherwise.
 */
export function refuseUrls(fields: readonly (readonly [string, unknown])[]): void {
  let characters = 0;
  for (const [field, value] of fields) {
    const left: unknown[] = [field, value];
    while (left.length > 0) {
      const next = left.pop();
      if (typeof next === 'object' && next !== null)
        for (const [name, each] of Object.entries(next)) left.push(name, each);
      if (typeof next !== 'string' || DATA.test(next)) continue;
      characters += next.length;
      if (characters > CHARACTERS)
        throw refusal(field, `must have at most ${CHARACTERS} characters besides base64`);
      if (namesUrl(next))
        throw refusal(field, 'must not contain a URL, since model servers do not fetch any for clients');
    }
  }
}

function namesUrl(text: string): boolean {
  const clean = text.replace(DROPPED, '').trim();
  if (isUrl(text, clean)) return true;
  if (!STRUCTURE.test(clean)) return false;
  let plain = clean;
  for (let times = 0; plain.includes('\\'); times += 1) {
    if (hasUrl(plain) || times === ESCAPED_AT_MOST) return true;
    plain = plain.replace(ESCAPE, unescaped).replace(DROPPED, '');
  }
  return hasUrl(plain);
}

const isUrl = (text: string, clean: string): boolean =>
  URL_START.test(clean) || (!/\s/.test(text.trim()) && URL_WORD.test(clean));

function hasUrl(structure: string): boolean {
  const text = structure.replace(DATA_INSIDE, '');
  return URL_INSIDE.test(text) || text.split(BETWEEN).some((part) => isUrl(part, part.trim()));
}

function unescaped(_escape: string, code: string | undefined, character = ''): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return NO_SPACE.has(character) ? '' : character;
}

function refusal(field: string, message: string): Problem {
  return invalidRequest([{ code: 'custom', path: [field], message: `${field} ${message}` }]);
}
