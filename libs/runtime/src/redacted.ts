const GONE = '…';

/** Any part that repeats at least this number of sent characters is removed. */
const SHARED_IN_LOGS = 12;
/** Clients may see more: most of it is their own, and names of fields and tools are that long. */
const SHARED_WITH_CLIENTS = 24;

/** A text is compared with at most this number of sent bytes; if more were sent, none of it is kept. */
const SENT_LIMIT_BYTES = 65_536;

/** Shorter ones occur within many words. */
const SHORTEST_SECRET = 3;

interface Bounds {
  /** The most characters that are read; each of them is searched for in the sent bytes. */
  readonly read: number;
  /** The most characters that are kept. */
  readonly kept: number;
}

const IN_LOGS: Bounds = { read: 400, kept: 160 };
const FOR_CLIENTS: Bounds = { read: 1_000, kept: 500 };

const URLS = /\b[a-z][a-z0-9+.-]{1,20}:\/\/\S+/gi;
/** Hosts without a scheme: with a long port, a port and a path, or a domain and a path. */
const HOSTS =
  /(?<![\w./-])(?:[a-z\d][\w.-]{0,252}:(?:\d{4,5}\b|\d{2,5}(?=[/?#]))|(?:[a-z\d][\w-]{0,62}\.){1,8}[a-z]{2,24}(?=[/?#]))(?:[/?#]\S*)?/gi;
const BEARERS = /\bbearer\s+\S+/gi;
const CREDENTIALS =
  /\b(api[-_ ]?key|password|secret|authorization|(access|auth|api)[-_ ]?token)\b["']?( \w{1,20})?\s*[:=]\s*\S+/gi;
const KEYS = /\b(sk|pk|rk|gsk|hf|xai|ghp|gho|glpat|nvapi)[-_][\w-]{4,}/gi;
const IPV4 = /\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b/g;
const IPV6 = /\[?\b[0-9a-f]{0,4}::?[0-9a-f]{0,4}:[0-9a-f:.]{0,40}\]?(:\d+)?/gi;
const PORTS = /\b[a-z][\w-]{0,62}:\d{2,5}\b/gi;

/** Never belongs in a log: addresses, possible keys, quotations, other scripts. */
const UNFIT_FOR_LOGS: readonly RegExp[] = [
  URLS,
  BEARERS,
  /(["'`])[^"'`]*(\1|$)/g,
  /[^\s\u0020-\u007e]+/g,
  IPV4,
  IPV6,
  /\b[\w-]{1,63}(\.[\w-]{1,63})+(:\d+)?\b/g,
  PORTS,
  /\b\w{1,32}[-_][\w-]{12,}/g,
  /\b(?=\w*\d)(?=\w*[a-z])\w{12,}\b/gi,
  /\w{32,}/g,
];

/** URLs, file paths and names with several slashes. */
const PATHS: readonly RegExp[] = [
  URLS,
  HOSTS,
  /(?<![\w<])([a-z]:)?([\\/][\w.@+~-]{1,100})+/gi,
  /\b[\w.@+-]{1,100}(\/[\w.@+-]{1,100}){2,}(:[\w.-]{1,64})?/g,
];

/**
 * What clients must not learn of the servers behind the service, in addition to paths and names: addresses,
 * possible keys.
 */
const UNFIT_FOR_CLIENTS: readonly RegExp[] = [
  BEARERS,
  CREDENTIALS,
  KEYS,
  /\b(AIza|AKIA|eyJ)[\w-]{8,}/g,
  IPV4,
  IPV6,
  PORTS,
  /\b(?=[\w-]{0,40}\d)(?=[\w-]{0,40}[a-z])[\w-]{16,}/gi,
  /[\w+/=-]{40,}/g,
];

/** Words joined by dots: the name of a host or file, or the path of a field. */
const DOTTED = /\b[a-z_][\w-]{0,62}(\.[\w-]{1,63})+(:\d+)?/gi;

/**
 * A neighbour's text for a log line: short, on one line, without addresses, keys, quotations, or anything
 * that repeats the bytes sent to the neighbour.
 */
export function redacted(text: string, sent: readonly Uint8Array[]): string {
  let clean = withoutSent(text.slice(0, IN_LOGS.read), sent, SHARED_IN_LOGS);
  for (const unfit of UNFIT_FOR_LOGS) clean = clean.replace(unfit, GONE);
  return shortened(clean, IN_LOGS.kept);
}

interface ClientView {
  /** The bytes sent to the neighbour, which may include more than the client wrote. */
  readonly sent: readonly Uint8Array[];
  /** Texts that must not be shown: the neighbour's host, its key. */
  readonly secrets: readonly string[];
  /**
   * Whether a name is a field of the request. Field paths such as `messages.0.content` are not host names.
   */
  readonly isField: (name: string) => boolean;
}

/**
 * A neighbour's text for a client: at most 500 characters on one line, without addresses, keys, file paths,
 * or long pieces of what the neighbour was sent. Empty if no words are left.
 */
export function presentable(text: string, { sent, secrets, isField }: ClientView): string {
  let clean = text.slice(0, FOR_CLIENTS.read).replace(/\p{C}+/gu, ' ');
  for (const secret of secrets) if (secret.length >= SHORTEST_SECRET) clean = clean.replaceAll(secret, GONE);
  clean = withoutSent(clean, sent, SHARED_WITH_CLIENTS);
  for (const unfit of PATHS) clean = clean.replace(unfit, GONE);
  const isPlace = (place: string): boolean =>
    place.split('.').every((step) => /^(\d+|\w)$/.test(step) || isField(step));
  clean = clean.replace(DOTTED, (place) => (isPlace(place) ? place : GONE));
  for (const unfit of UNFIT_FOR_CLIENTS) clean = clean.replace(unfit, GONE);
  clean = shortened(clean, FOR_CLIENTS.kept);
  return /\p{L}/u.test(clean) ? clean : '';
}

/** Where a server runs, and what it proves its identity with. */
const PRIVATE: readonly RegExp[] = [URLS, HOSTS, BEARERS, CREDENTIALS, KEYS, IPV4];

/**
 * A neighbour's data for a client, of any length: without addresses and whatever is called a key. For a
 * message, which needs fewer words than data, see `presentable`.
 */
export function withoutAddresses(text: string): string {
  return PRIVATE.reduce((rest, unfit) => rest.replace(unfit, GONE), text);
}

/** One line of at most this number of characters. */
function shortened(text: string, most: number): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/…( ?…)+/g, GONE)
    .trim();
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}${GONE}` : line;
}

/** Member names of a JSON object, which are not secret. */
const MEMBER_NAMES = /"\w{1,64}":/g;

/** The text without any parts of at least `length` characters that were sent. */
function withoutSent(text: string, sent: readonly Uint8Array[], length: number): string {
  if (sent.reduce((sum, part) => sum + part.length, 0) > SENT_LIMIT_BYTES) return GONE;
  const secret = Buffer.concat(sent).toString().replace(MEMBER_NAMES, '":');
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const isShared = at + length <= text.length && secret.includes(text.slice(at, at + length));
    if (!isShared) {
      kept += text[at] ?? '';
      at += 1;
      continue;
    }
    let end = at + length;
    while (end < text.length && secret.includes(text.slice(end - length + 1, end + 1))) end += 1;
    kept += GONE;
    at = end;
  }
  return kept;
}
