import { createHmac } from 'node:crypto';
import type { InferenceCall } from '@svc/contracts/inference';
import type { ExchangeRequest } from '@svc/runtime';
import { type Step, tracing } from '@svc/telemetry';
import type { LiveBackend } from './backends/backend-pool.js';
import type { CallMode, RoutedCall } from './backends/call-mode.js';

/** A call to one backend. */
interface BackendCall {
  readonly live: LiveBackend;
  readonly call: RoutedCall;
  readonly step: Step | undefined;
}

/** A long word, or one of letters and digits. */
const KEY_IN_PATH = /^(?:.{20,}|(?=.*\d)(?=.*[a-z]).{12,})$/i;

/**
 * The HTTP requests to backends. `secret` returns the environment variable that `apiKeyEnv` or `cacheSaltEnv`
 * names.
 */
export class BackendRequests {
  constructor(private readonly secret: (name: string) => string | undefined) {}

  of<Part>(
    { live, call, step }: BackendCall,
    mode: CallMode<Part>,
  ): Omit<ExchangeRequest, 'pauseMs' | 'deadlineMs'> {
    const { origin, basePath, dialect } = live;
    const { requestId, encryption } = call;
    const headers = dialect.headers({ requestId, key: this.keyFor(live), encryption });
    if (mode.contentType !== undefined) headers['content-type'] = mode.contentType;
    if (step) tracing.toBackend(step, headers);
    if (mode.job) {
      const { method, path, body, headers: own } = mode.job(live);
      const whole = { origin, method, path: `${basePath}${path}`, headers: { ...headers, ...own } };
      return body ? { ...whole, body } : whole;
    }
    const path = `${basePath}${dialect.paths[call.kind ?? 'chat'] ?? ''}` || '/';
    return { origin, path, headers, body: mode.body?.(live) ?? [] };
  }

  /** The body of a chat. Throws without the secret of a backend that separates accounts in its cache. */
  chatBody({ backend, dialect }: LiveBackend, { accountId, body }: InferenceCall): Uint8Array[] {
    const { model, cacheSaltEnv } = backend;
    if (cacheSaltEnv === undefined) return dialect.chatBody({ model }, body);
    const secret = this.secret(cacheSaltEnv) ?? '';
    if (secret === '') throw new Error(`${cacheSaltEnv} is not set`);
    const salt = createHmac('sha256', secret).update(accountId).digest('base64url');
    return dialect.chatBody({ model, cache_salt: salt }, body);
  }

  /**
   * What a client must not learn of a backend. That includes its own name of the model, unless clients use
   * the same name.
   */
  secretsOf(live: LiveBackend, { model }: Pick<RoutedCall, 'model'>): string[] {
    const { hostname, host } = new URL(live.origin);
    const name = live.backend.model === model ? [] : [live.backend.model];
    return [host, hostname, ...name, ...this.credentialsOf(live)];
  }

  /** The key of a backend, and what may be one in its URL, where providers of nodes put keys. */
  credentialsOf(live: LiveBackend): string[] {
    const key = this.keyFor(live) ?? '';
    return [key, ...live.basePath.split('/').filter((part) => KEY_IN_PATH.test(part))];
  }

  keyFor({ backend: { apiKeyEnv } }: LiveBackend): string | undefined {
    return apiKeyEnv === undefined ? undefined : this.secret(apiKeyEnv);
  }
}
