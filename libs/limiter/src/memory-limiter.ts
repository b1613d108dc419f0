import { Injectable } from '@nestjs/common';
import { type Admission, type AdmitRequest, Limiter } from '@svc/contracts';

/** Limits are per minute, in windows that start with the minute. */
export const WINDOW_MS = 60_000;

interface Window {
  readonly endsAtMs: number;
  requests: number;
  tokens: number;
}

/**
 * The limiter of a single process: exact, since every request passes here. A restart forgets the current minute,
 * which only ever admits more of it.
 */
@Injectable()
export class MemoryLimiter extends Limiter {
  private readonly windows = new Map<string, Window>();
  private currentEndMs = 0;

  constructor(private readonly nowMs: () => number = Date.now) {
    super();
  }

  override admit(request: AdmitRequest): Promise<Admission> {
    const window = this.window(request);
    const { requestsPerMinute, tokensPerMinute } = request.limits;
    const admitted =
      window.requests + 1 <= requestsPerMinute && window.tokens + request.tokens <= tokensPerMinute;
    if (admitted) {
      window.requests += 1;
      window.tokens += request.tokens;
    }
    return Promise.resolve({
      admitted,
      requests: { limit: requestsPerMinute, remaining: Math.max(0, requestsPerMinute - window.requests) },
      tokens: { limit: tokensPerMinute, remaining: Math.max(0, tokensPerMinute - window.tokens) },
      resetAtMs: window.endsAtMs,
      type: 'user',
    });
  }

  override settle(request: AdmitRequest, admission: Admission, tokensUsed: number): Promise<void> {
    const window = this.stillOpen(request, admission);
    if (window) window.tokens = Math.max(0, window.tokens + tokensUsed - request.tokens);
    return Promise.resolve();
  }

  override release(request: AdmitRequest, admission: Admission): Promise<void> {
    const window = this.stillOpen(request, admission);
    if (window) {
      window.requests -= 1;
      window.tokens = Math.max(0, window.tokens - request.tokens);
    }
    return Promise.resolve();
  }

  /** The window that admitted a request, unless it has ended and taken its estimate with it. */
  private stillOpen(request: AdmitRequest, admission: Admission): Window | undefined {
    const window = this.windows.get(keyOf(request));
    return window?.endsAtMs === admission.resetAtMs ? window : undefined;
  }

  private window(request: AdmitRequest): Window {
    const now = this.nowMs();
    if (now >= this.currentEndMs) {
      // All windows end together, so the map never outlives its minute.
      this.windows.clear();
      this.currentEndMs = (Math.floor(now / WINDOW_MS) + 1) * WINDOW_MS;
    }
    const key = keyOf(request);
    let window = this.windows.get(key);
    if (!window) {
      window = { endsAtMs: this.currentEndMs, requests: 0, tokens: 0 };
      this.windows.set(key, window);
    }
    return window;
  }
}

function keyOf(request: AdmitRequest): string {
  return `${request.accountId}:${request.model}`;
}
