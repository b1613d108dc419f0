import type { LiveBackend } from './backend-pool.js';
import { hasParts } from './planned-request.js';

/** A long word, or one of letters and digits. */
const KEY_IN_PATH = /^(?:.{20,}|(?=.*\d)(?=.*[a-z]).{12,})$/i;

/** A secret of several texts, such as the key of a service account, is the JSON of an object. */
const IN_JSON = /"((?:[^"\\]|\\.){8,})"\s*[,}]/g;

/** The secrets that are kept to be hidden after they were replaced: a backend may still quote them. */
interface SeenKey {
  readonly key: string;
  readonly before: string | undefined;
}

/** The keys of backends. `secret` returns the secret that `apiKeyEnv` names, as it is now. */
export class Credentials {
  private readonly seen = new Map<string, SeenKey>();

  constructor(private readonly secret: (name: string) => string | undefined) {}

  keyOf({ backend: { apiKeyEnv } }: LiveBackend): string | undefined {
    if (apiKeyEnv === undefined) return undefined;
    const key = this.secret(apiKeyEnv);
    const seen = this.seen.get(apiKeyEnv);
    if (key !== undefined && key !== seen?.key) this.seen.set(apiKeyEnv, { key, before: seen?.key });
    return key;
  }

  /** The keys of a backend, and what may be one in its URL, where providers of nodes put keys. */
  allOf(live: LiveBackend): string[] {
    const key = this.keyOf(live) ?? '';
    const before = this.seen.get(live.backend.apiKeyEnv ?? '')?.before ?? '';
    const inPath = live.basePath.split('/').filter((part) => KEY_IN_PATH.test(part));
    return [...partsOf(key), ...partsOf(before), ...inPath];
  }

  /**
   * What a client must not learn of a backend. That includes its own name of the model, unless clients use
   * the same name, and the places in its URL.
   */
  hiddenOf(live: LiveBackend, model: string): string[] {
    const { hostname, host } = new URL(live.origin);
    const name = live.backend.model === model ? [] : [live.backend.model];
    return [host, hostname, ...name, ...placesIn(live.basePath), ...this.allOf(live)];
  }
}

/** A key, and its parts if it has several. */
function partsOf(key: string): string[] {
  if (!hasParts(key)) return [key];
  return [key, ...Array.from(key.matchAll(IN_JSON), ([, part = '']) => part.replaceAll('\\n', '\n'))];
}

/** The project and the region in a path such as `/v1/projects/mine/locations/europe-west1`. */
const placesIn = (path: string): string[] =>
  Array.from(path.matchAll(/\/(?:projects|locations)\/([^/]+)/g), ([, place = '']) => place);
