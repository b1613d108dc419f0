import { type UnauthorizedCall, hasParts } from '@svc/backend-calls';
import type { Lent, Logger, RequestSender } from '@svc/runtime';
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

const bearer = (token: string): { readonly authorization: string } => ({ authorization: `Bearer ${token}` });

/** Authorizes calls by signatures and by tokens, which are kept by the secret that they come from. */
export class Authorizations {
  private readonly sources = new Map<string, TokenSource>();

  constructor(
    private readonly settings: AuthorizationSettings,
    /** Sends the requests for tokens of issuers. */
    private readonly sender?: RequestSender,
  ) {}

  /** The headers that a call needs in addition. Throws BackendError if there are none. */
  async headersOf(kind: AuthorizationKind, call: UnauthorizedCall): Promise<Record<string, string>> {
    if (kind === 'aws') return bedrockHeaders(call);
    const source = this.tokensOf(kind, call.key);
    if (source) return { ...bearer(await source.current()) };
    return call.key === undefined ? {} : { 'api-key': call.key };
  }

  /**
   * Drops the token of a call that its server has refused with the status 401. Returns whether the call may
   * succeed with another one.
   */
  refused(
    kind: AuthorizationKind,
    key: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): boolean {
    const source = kind === 'aws' ? undefined : this.tokensOf(kind, key);
    return source?.drop((headers['authorization'] ?? '').slice(bearer('').authorization.length)) === true;
  }

  /** Undefined for a key that is sent as it is. */
  private tokensOf(kind: 'google' | 'entra', key: string | undefined): TokenSource | undefined {
    if (kind === 'entra')
      return key === undefined || !hasParts(key)
        ? undefined
        : this.sourceOf(key, () => entraToken(key, this.sender));
    return this.sourceOf(key ?? '', () =>
      key === undefined
        ? workloadToken(this.settings.ROUTER_GOOGLE_METADATA_URL)
        : serviceAccountToken(key, this.sender),
    );
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
