const unreachable = 'The URL could not be reached.';

/**
 * Messages for clients. A forbidden address and an unresponsive one get the same message, so that clients
 * can't map an internal network.
 */
const MESSAGES = {
  url: 'The URL is not valid.',
  scheme: 'The URL must start with http:// or https://.',
  credentials: 'The URL must not hold a user name or password.',
  port: 'The port of the URL is not allowed.',
  address: unreachable,
  redirect: 'The URL redirects too often or in a way that is not allowed.',
  'too-large': 'The content of the URL is too large.',
  timeout: 'The URL took too long to answer.',
  status: 'The URL did not respond with success.',
  unreachable,
  encoding: 'The content of the URL is compressed in a way that cannot be read.',
} as const;

export type RefusalReason = keyof typeof MESSAGES;

/**
 * A URL was not fetched. `message` is safe for clients; `cause` is for logs only, since it may contain
 * internal addresses. `reason` distinguishes `address` from `unreachable`, so it is not for clients either.
 */
export class FetchRefused extends Error {
  override readonly name = 'FetchRefused';

  constructor(
    readonly reason: RefusalReason,
    cause?: unknown,
    /** The response's status, if it was not a success. */
    readonly status?: number,
  ) {
    super(MESSAGES[reason], cause === undefined ? undefined : { cause });
  }

  /** Any error of a fetch. Unless it is a rejection already, the network is at fault. */
  static from(error: unknown): FetchRefused {
    if (error instanceof FetchRefused) return error;
    const code = codeOf(error);
    if (code === 'UND_ERR_HEADERS_OVERFLOW') return new FetchRefused('too-large', error);
    if (/^(Z_|ERR__ERROR_)/.test(code)) return new FetchRefused('encoding', error);
    return new FetchRefused('unreachable', error);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
