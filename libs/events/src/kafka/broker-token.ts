import { readFile } from 'node:fs/promises';
import { type Lent, StartFault, Token, expiring, grantedToken } from '@svc/runtime';
import type { Mechanism } from 'kafkajs';

/** The settings of authentication by OAuth. */
export interface TokenSettings {
  /** The id and the secret of the client at the token endpoint. */
  readonly KAFKA_USERNAME?: string | undefined;
  readonly KAFKA_PASSWORD?: string | undefined;
  readonly KAFKA_OAUTH_TOKEN_URL?: string | undefined;
  readonly KAFKA_OAUTH_SCOPE?: string | undefined;
  readonly KAFKA_OAUTH_TOKEN_FILE?: string | undefined;
}

/** Without `expires_in`, which is optional, a token is used this long. */
const UNKNOWN_LIFETIME_SECONDS = 60;

/**
 * SASL OAUTHBEARER (RFC 7628) with a token for each connection. A broker that refuses a token responds with
 * the reason and without an error, which the mechanism of kafkajs takes for success.
 */
export function tokenMechanism(settings: TokenSettings): Mechanism {
  const token = brokerToken(settings);
  return {
    mechanism: 'oauthbearer',
    authenticationProvider: ({ saslAuthenticate }) => ({
      authenticate: async () => {
        const message = `n,,\u0001auth=Bearer ${await token()}\u0001\u0001`;
        await saslAuthenticate({
          request: { encode: () => withLength(Buffer.from(message)) },
          response: { decode: (bytes) => bytes.subarray(LENGTH_BYTES), parse: throwRefusal },
        });
      },
    }),
  };
}

const LENGTH_BYTES = 4;

function withLength(bytes: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function throwRefusal(reason: Buffer): void {
  if (reason.length > 0) throw new Error(`the broker refuses the token: ${reason.toString()}`);
}

/**
 * Returns the token for a connection to the brokers: from a file, which another program renews, or from a
 * token endpoint, by the credentials of a client. Throws StartFault if settings are missing.
 */
function brokerToken(settings: TokenSettings): () => Promise<string> {
  const { KAFKA_OAUTH_TOKEN_URL: url, KAFKA_OAUTH_TOKEN_FILE: file, KAFKA_OAUTH_SCOPE: scope } = settings;
  if ((url === undefined) === (file === undefined))
    throw new StartFault(
      'KAFKA_SASL=oauthbearer needs either KAFKA_OAUTH_TOKEN_URL or KAFKA_OAUTH_TOKEN_FILE',
    );
  if (file !== undefined) return () => tokenIn(file);
  const { KAFKA_USERNAME: id, KAFKA_PASSWORD: secret } = settings;
  if (url === undefined || id === undefined || secret === undefined)
    throw new StartFault('KAFKA_OAUTH_TOKEN_URL needs KAFKA_USERNAME and KAFKA_PASSWORD');
  return expiring(() => clientToken({ url, id, secret, scope }));
}

async function tokenIn(file: string): Promise<string> {
  const { success, data } = Token.safeParse((await readFile(file, 'utf8')).trim());
  if (!success) throw new TypeError('KAFKA_OAUTH_TOKEN_FILE: has no token');
  return data;
}

interface Client {
  readonly url: string;
  readonly id: string;
  readonly secret: string;
  readonly scope: string | undefined;
}

/** RFC 6749, section 4.4, with the client authenticated as in section 2.3.1. */
function clientToken({ url, id, secret, scope }: Client): Promise<Lent<string>> {
  const credentials = Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64');
  return grantedToken(url, {
    issuer: 'the token endpoint of the brokers',
    form: { grant_type: 'client_credentials', ...(scope !== undefined && { scope }) },
    headers: { authorization: `Basic ${credentials}` },
    usualSeconds: UNKNOWN_LIFETIME_SECONDS,
  });
}

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);
