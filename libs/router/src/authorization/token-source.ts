import { BackendError } from '@svc/backend-calls';
import { type Lent, type Logger, expiring } from '@svc/runtime';

/** How long no token is asked for after the first failure, and at most; each in a row is twice as long. */
const FIRST_PAUSE_MS = 1_000;
const LAST_PAUSE_MS = 60_000;

/**
 * Tokens that are asked for once and kept until they are about to expire. After a failure none is asked for
 * during a pause, which is longer each time; calls fail at once meanwhile.
 */
export class TokenSource {
  private token: () => Promise<string>;
  private last: string | undefined;
  private droppedMs = Number.NEGATIVE_INFINITY;
  private failure: BackendError | undefined;
  private untilMs = 0;
  private pauseMs = FIRST_PAUSE_MS;

  constructor(
    private readonly fetched: () => Promise<Lent<string>>,
    private readonly log: Logger,
  ) {
    this.token = expiring(() => this.fetch());
  }

  /** Throws BackendError: one of the operator for a secret that cannot be used, otherwise of a server. */
  current(): Promise<string> {
    return this.token();
  }

  /**
   * Drops a token that a server has refused, if it is the last one. Returns whether another one may be
   * accepted. At most one a minute is dropped, since a server may refuse every token.
   */
  drop(token: string): boolean {
    if (token !== this.last) return true;
    const nowMs = performance.now();
    if (nowMs - this.droppedMs < LAST_PAUSE_MS) return false;
    this.droppedMs = nowMs;
    this.last = undefined;
    this.token = expiring(() => this.fetch());
    return true;
  }

  private async fetch(): Promise<Lent<string>> {
    if (this.failure && performance.now() < this.untilMs) throw this.failure;
    try {
      const lent = await this.fetched();
      this.last = lent.value;
      this.failure = undefined;
      this.pauseMs = FIRST_PAUSE_MS;
      return lent;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.failure =
        error instanceof BackendError
          ? error
          : new BackendError(502, JSON.stringify({ error: { message: `no token: ${reason}` } }));
      this.untilMs = performance.now() + this.pauseMs;
      this.log.error(
        { reason: error instanceof BackendError ? error.body : reason, retryMs: this.pauseMs },
        'a backend gets no token',
      );
      this.pauseMs = Math.min(2 * this.pauseMs, LAST_PAUSE_MS);
      throw this.failure;
    }
  }
}
