import type { Charge } from '@svc/contracts/messages';

/** A response that is given again to the same request. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** In pieces, which are joined only if they are small enough to be stored. */
  readonly body: readonly Uint8Array[];
}

/** A request with an `Idempotency-Key`, which this process is making. */
export interface Repeat {
  /** Whether an earlier process began it, which may have done all of it except to respond. */
  readonly isTakenOver: boolean;
  /**
   * Called before a charge: the charge of the earlier process, if it stored one, otherwise this one, which is
   * then stored. Refuses: REQUEST_IN_PROGRESS if another process has taken over, UNAVAILABLE.
   */
  charged(charge: Charge): Promise<Charge>;
  /** Called if that charge was refused, so that it is never made. The request has then had no effect. */
  refused(): void;
  /** Stores the response, as far as it may be stored. Never rejects. */
  answered(answer: StoredResponse): Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set if it has an `Idempotency-Key`. */
    repeat?: Repeat;
  }
}
