import { type UnauthorizedCall, hasParts } from '@svc/backend-calls';
import type { Lent, Logger } from '@svc/runtime';
import { bedrockHeaders } from './bedrock-keys.js';
import { TokenSource } from './token-source.js';
import { entraToken, serviceAccountToken, workloadToken } from './tokens.js';

/** How calls of a kind of backend show who makes them, if not by a key in a header. */
export type AuthorizationKind = 'aws' | 'google' | 'entra';

/** The most secrets whose tokens are kept. */
const MOST_SOURCES = 1_000;

interface AuthorizationSettings {
  /** The server for metadata of Google's machines. */
  readonly ROUTER_GOOGLE_METADATA_URL: string;
  readonly log: Logger;
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** Authorizes calls by signatures and by tokens, which are kept by the secret that they come from. */
export class Authorizations {
  private readonly sources = new Map<string, TokenSource>();

  constructor(private readonly settings: AuthorizationSettings) {}

  /** The headers that a call needs in addition. Throws BackendError if there are none. */
  async headersOf(kind: AuthorizationKind, call: UnauthorizedCall): Promise<Record<string, string>> {
    const { key } = call;
    switch (kind) {
      case 'aws':
        return bedrockHeaders(call);
      case 'google': {
        const token = this.sourceOf(key ?? '', () =>
          key === undefined
            ? workloadToken(this.settings.ROUTER_GOOGLE_METADATA_URL)
            : serviceAccountToken(key),
        );
        return bearer(await token.current());
      }
      case 'entra': {
        if (key === undefined) return {};
        if (!hasParts(key)) return { 'api-key': key };
        return bearer(await this.sourceOf(key, () => entraToken(key)).current());
      }
    }
  }

  private sourceOf(secret: string, fetched: () => Promise<Lent<string>>): TokenSource {
    const known = this.sources.get(secret);
    if (known) return known;
    const [oldest] = this.sources.keys();
    // Secrets that were replaced are not used again.
    if (this.sources.size === MOST_SOURCES && oldest !== undefined) this.sources.delete(oldest);
    const source = new TokenSource(fetched, this.settings.log);
    this.sources.set(secret, source);
    return source;
  }
}
