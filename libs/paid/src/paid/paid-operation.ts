import type { Amounts, Caller, HoldRequest } from '@svc/contracts/ports';
import type { ChargeLine, Usage } from '@svc/contracts/messages';
import type { ModelSale, RouteSale } from './model-sale.js';

/** Something that costs money: what it needs before it begins. */
export interface PaidOperation {
  /** What is sold: its name in charges, what is limited, and the limits that apply. */
  readonly sale: ModelSale | RouteSale;
  /** The estimated amounts in addition to one request. */
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
  /** Whether it takes effect, so that it goes on and is charged after its client has disconnected. */
  readonly outlastsClient?: boolean;
  /** What it returns is charged, even if the signal has been aborted. If this throws, nothing is charged. */
  readonly perform: (caller: Caller, signal: AbortSignal) => Promise<Performed<Result>>;
}

export interface Performed<Result> extends Delivery {
  readonly result: Result;
  /** Calls of a model that failed before this one. */
  readonly retries?: number;
}
