import type { Amounts, Caller, ChargeLine, HoldRequest, Limit, LimitedResource, Usage } from '@svc/contracts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, when the request has valid credentials. */
    caller: Caller | undefined;
  }
}

/** Something that costs money: what it needs before it begins. */
export interface PaidOperation {
  /** The name in charges: the id of a model, or the path of the route. */
  readonly name: string;
  /** What is limited, the limits that apply, and the estimated amounts beside one request. */
  readonly resource: LimitedResource;
  readonly limits: readonly Limit[];
  readonly amounts: Amounts;
  /**
   * The money to hold at first: all that the operation can cost, or the beginning of a stream that extends
   * its hold ahead of its output.
   */
  readonly hold: Pick<HoldRequest, 'amountNano' | 'atLeastNano' | 'preferredNano'>;
}

/** What an operation delivered. Without lines, it costs nothing. */
export interface Delivery {
  /** The backend that delivered it. */
  readonly backend: string;
  readonly lines: readonly ChargeLine[];
  /** Default: no tokens. */
  readonly usage?: Usage;
}

/** An operation that delivers its whole result at once. */
export interface WholeOperation<Result> extends PaidOperation {
  /** The request of its charge, if an earlier attempt may have charged it. Default: the HTTP request. */
  readonly requestId?: string;
  /** Whether it takes effect, so that it goes on and is charged after its client has disconnected. */
  readonly outlastsClient?: boolean;
  /** What it returns is charged, even if the signal has been aborted. If this throws, nothing is charged. */
  readonly perform: (caller: Caller, signal: AbortSignal) => Promise<Performed<Result>>;
}

export interface Performed<Result> extends Delivery {
  readonly result: Result;
}
