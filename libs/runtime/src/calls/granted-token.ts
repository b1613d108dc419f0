import { z } from 'zod';
import type { Lent } from '../expiring.js';
import { jsonOrUndefined } from '../json/json-reader.js';
import type { RequestSender } from './connections.js';
import { shortCall } from './short-call.js';

/** Characters that may be in a token, none of which ends it in a header or a request. */
export const Token = z.string().regex(/^[\w.~+/-]+=*$/);

/** A longer lifetime counts as this one. */
const LIFETIME_LIMIT_SECONDS = 86_400;

const TokenResponse = z.object({
  access_token: Token,
  expires_in: z.coerce.number().positive().optional(),
});

/** A request for a token. */
interface TokenRequest {
  /** Who grants it, for errors. */
  readonly issuer: string;
  /** The body of a POST; without it the request is a GET. */
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** For a response without `expires_in`, which is optional. */
  readonly usualSeconds: number;
  /** Default: a connection of its own. */
  readonly sender?: RequestSender | undefined;
}

/** A token of OAuth 2.0 (RFC 6749). Throws TypeError without it, whose message has no secret. */
export async function grantedToken(url: string, request: TokenRequest): Promise<Lent<string>> {
  const { issuer, form, headers, usualSeconds, sender } = request;
  const { status, text } = await shortCall(
    url,
    form === undefined
      ? { method: 'GET', headers: { accept: 'application/json', ...headers } }
      : {
          method: 'POST',
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            accept: 'application/json',
            ...headers,
          },
          body: new URLSearchParams(form).toString(),
        },
    sender,
  );
  const response = jsonOrUndefined(text);
  if (status !== 200) throw new TypeError(`${issuer} responded with ${status}${reasonIn(response)}`);
  const { success, data } = TokenResponse.safeParse(response);
  // Without the response, which may have a secret.
  if (!success) throw new TypeError(`${issuer} sent no token`);
  const seconds = Math.min(data.expires_in ?? usualSeconds, LIFETIME_LIMIT_SECONDS);
  return { value: data.access_token, lifetimeMs: 1_000 * seconds };
}

/** The code of an error as RFC 6749 has it, such as `invalid_grant`. */
function reasonIn(response: unknown): string {
  const { data } = z.object({ error: z.string().regex(/^[a-z_]{1,40}$/) }).safeParse(response);
  return data ? ` ${data.error}` : '';
}
