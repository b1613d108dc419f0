import { currentStep, neighbours } from '@svc/telemetry';
import { Exchange, ExchangeAborted, ExchangeTimedOut } from './exchange.js';
import { TOO_MANY_WAIT } from '../connections/plain-connections.js';
import type { ResponseHeaders } from '../connections/response-head.js';
import { HeartbeatMissed, type ReplicaOptions, type Replica, Replicas } from './replicas.js';

/** If a second address fails as well, the cause is probably the call itself. */
const ATTEMPTS = 2;

/** Limit of a response that is read whole. */
const RESPONSE_LIMIT_BYTES = 16_777_216;

/** Set on an internal response by a process that is stopping and has not done the call. */
export const STOPPING_HEADER = 'x-svc-stopping';

export interface NeighbourAddress extends ReplicaOptions {
  /** The URL without a path; for several replicas, their URLs separated by commas. */
  readonly url: string;
  /** The token of the service. */
  readonly token: string;
}

export interface InternalCall {
  /** Default: POST. */
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | readonly Uint8Array[];
  /** For all attempts together. */
  readonly deadlineMs: number;
  /** The longest pause within a response; default: `deadlineMs`. */
  readonly pauseMs?: number;
  /**
   * Whether to retry a call that may have been done. Without it, only calls that certainly were not done are
   * retried.
   */
  readonly idempotent?: boolean;
  /** Calls with the same key prefer the same address. */
  readonly key?: string;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
}

export interface InternalResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly text: string;
}

/** A neighbour did not respond. */
export class NeighbourUnavailable extends Error {
  override readonly name = 'NeighbourUnavailable';

  constructor(
    override readonly cause: Error,
    /** Whether the call was certainly not done. */
    readonly isUndone: boolean,
  ) {
    super(cause.message);
  }
}

type Take<Value> = (exchange: Exchange, broken: number) => Promise<Value> | Value;

/**
 * Calls another process of the deployment over keep-alive connections, with its token. The least
 * busy of several addresses is called. An address that refuses, breaks, is late or misses a heartbeat is
 * skipped for a while, and the call goes to another one if the call allows that.
 */
export class InternalClient {
  private readonly replicas: Replicas;
  private readonly authorization: string;

  constructor({ url, token, ...options }: NeighbourAddress) {
    this.replicas = new Replicas(url, options);
    this.authorization = `Bearer ${token}`;
  }

  /**
   * Returns the whole response, whatever its status. Throws NeighbourUnavailable, or ExchangeAborted if the
   * signal ended the call.
   */
  ask(call: InternalCall): Promise<InternalResponse> {
    return this.open(call, responseOf);
  }

  /**
   * Returns the result of `take`, which gets the exchange once the response head has arrived. `broken` is the
   * number of addresses that broke off before. A connection that breaks while `take` runs counts as a failure
   * of the address. Throws like `ask`.
   */
  async open<Value>(call: InternalCall, take: Take<Value>): Promise<Value> {
    const endMs = performance.now() + call.deadlineMs;
    const tried = new Set<Replica>();
    let broken = 0;
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt === ATTEMPTS;
      // One address may be a name with several replicas behind it, so it may be called twice.
      const replica = this.replicas.next(tried, call.key) ?? this.replicas.next(NONE);
      if (!replica) throw new RangeError('a neighbour has an address');
      tried.add(replica);
      let failure: Error | undefined;
      try {
        const exchange = await this.start(replica, call, {
          deadlineMs: Math.max(1, endMs - performance.now()),
          mayMove: !isLast && call.idempotent === true,
          onFailure: (error) => {
            failure = error;
          },
        });
        if (isLast || !isStopping(exchange)) return await take(exchange, broken);
        exchange.abort();
      } catch (error) {
        if (error !== failure || !(failure instanceof Error) || failure instanceof ExchangeAborted)
          throw error;
        const isUndone = wasNotSent(failure);
        const isWorthIt = isUndone ? this.replicas.count > 1 : call.idempotent === true;
        if (isLast || !isWorthIt || performance.now() >= endMs)
          throw new NeighbourUnavailable(failure, isUndone);
        if (!isUndone) broken += 1;
      }
    }
  }

  /**
   * Asks every address once, and returns the responses of those that gave one. Throws NeighbourUnavailable if
   * none did.
   */
  async askAll(call: InternalCall): Promise<InternalResponse[]> {
    const { deadlineMs } = call;
    const results = await Promise.allSettled(
      this.replicas.every.map(async (replica) => {
        const attempt = { deadlineMs, mayMove: false, onFailure: () => undefined };
        return responseOf(await this.start(replica, call, attempt));
      }),
    );
    const responses = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed && responses.length === 0) throw new NeighbourUnavailable(failed.reason as Error, false);
    return responses;
  }

  close(): Promise<void> {
    return this.replicas.close();
  }

  private start(
    replica: Replica,
    call: InternalCall,
    attempt: {
      readonly deadlineMs: number;
      /** Whether the call may move to another address when this one misses a heartbeat. */
      readonly mayMove: boolean;
      readonly onFailure: (error: Error) => void;
    },
  ): Promise<Exchange> {
    const { signal, pauseMs = call.deadlineMs, method = 'POST', path, headers, body } = call;
    const step = currentStep();
    const request = {
      method,
      origin: replica.origin,
      path,
      headers: {
        'content-type': 'application/json',
        ...headers,
        authorization: this.authorization,
        ...(step && { traceparent: step.traceparent }),
      },
      ...(body !== undefined && { body }),
      pauseMs,
      deadlineMs: attempt.deadlineMs,
    };
    const done = replica.take();
    const startMs = performance.now();
    const onEnd = (failure: Error | undefined): void => {
      neighbours.calls.record((performance.now() - startMs) / 1_000, path, outcomeOf(failure));
      done(isFault(failure));
      if (failure) attempt.onFailure(failure);
    };
    const unanswered = attempt.mayMove ? replica.unanswered : undefined;
    return Exchange.start(replica.connections.kept, request, { signal, onEnd, unanswered });
  }
}

async function responseOf(exchange: Exchange): Promise<InternalResponse> {
  const { status, headers } = exchange;
  return { status, headers, text: await exchange.text(RESPONSE_LIMIT_BYTES) };
}

/** Whether to rest the address. One that missed a heartbeat is used again as soon as it responds to one. */
function isFault(failure: Error | undefined): boolean {
  return failure !== undefined && !(failure instanceof ExchangeAborted || failure instanceof HeartbeatMissed);
}

/** The outcome of a call, for metrics. */
function outcomeOf(failure: Error | undefined): string {
  if (!failure) return '';
  if (failure instanceof ExchangeAborted) return 'aborted';
  if (failure instanceof HeartbeatMissed) return 'moved';
  return failure instanceof ExchangeTimedOut ? 'timeout' : 'broken';
}

const NONE: ReadonlySet<Replica> = new Set();

function isStopping({ status, headers }: Exchange): boolean {
  return status === 503 && headers[STOPPING_HEADER] !== undefined;
}

/** Whether no connection was made. */
function wasNotSent(error: Error): boolean {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'connect' || NO_CONNECTION.has(code ?? '');
}

const NO_CONNECTION = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  TOO_MANY_WAIT,
]);
