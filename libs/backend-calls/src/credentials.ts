import type { LiveBackend } from './backend-pool.js';

/** A long word, or one of letters and digits. */
const KEY_IN_PATH = /^(?:.{20,}|(?=.*\d)(?=.*[a-z]).{12,})$/i;

/** The keys of backends. `secret` returns the environment variable that `apiKeyEnv` names. */
export class Credentials {
  constructor(private readonly secret: (name: string) => string | undefined) {}

  keyOf({ backend: { apiKeyEnv } }: LiveBackend): string | undefined {
    return apiKeyEnv === undefined ? undefined : this.secret(apiKeyEnv);
  }

  /** The key of a backend, and what may be one in its URL, where providers of nodes put keys. */
  allOf(live: LiveBackend): string[] {
    return [this.keyOf(live) ?? '', ...live.basePath.split('/').filter((part) => KEY_IN_PATH.test(part))];
  }

  /**
   * What a client must not learn of a backend. That includes its own name of the model, unless clients use
   * the same name.
   */
  hiddenOf(live: LiveBackend, model: string): string[] {
    const { hostname, host } = new URL(live.origin);
    const name = live.backend.model === model ? [] : [live.backend.model];
    return [host, hostname, ...name, ...this.allOf(live)];
  }
}
