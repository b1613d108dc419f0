import { currentStep, neighbours } from '@svc/telemetry';
import { type AnswerHeaders, Exchange, ExchangeAborted, ExchangeTimedOut } from './exchange.js';
import { HeartbeatMissed, type PoolOptions, type Replica, Replicas } from './replicas.js';

/** A second address is asked where the first one fails; after that it is likely to be the call. */
const ATTEMPTS = 2;

/** An answer that is read whole has at most so many bytes. */
const ANSWER_LIMIT_BYTES = 16_777_216;

/** An internal answer with this header is of a process that stops, and has done nothing. */
export const STOPPING_HEADER = 'x-svc-stopping';

export interface NeighbourAddress extends PoolOptions {
  /** Where it listens: a URL without a path, or those of its replicas by commas. */
  readonly url: string;
  /** The secret that the processes of a deployment share. */
  readonly token: string;
}

export interface InternalCall {
  /** Default: POST. */
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | readonly Uint8Array[];
  /** All attempts together take no longer. */
  readonly deadlineMs: number;
  /** How long an answer may pause once it has begun; default: the deadline. */
  readonly pauseMs?: number;
  /** Whether it is asked again where it may have been done. Without it, only where it was certainly not. */
  readonly idempotent?: boolean;
  /** Closes the call at once. */
  readonly signal?: AbortSignal;
}

export interface InternalAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
}

/** A neighbour gave no answer. */
export class NeighbourAway extends Error {
  override readonly name = 'NeighbourAway';

  constructor(
    override readonly cause: Error,
    /** Whether what was asked was certainly not done. */
    readonly isUndone: boolean,
  ) {
    super(cause.message);
  }
}

type Take<Value> = (exchange: Exchange, broken: number) => Promise<Value> | Value;

/**
 * Calls another process of the deployment over kept-alive connections, with its token. Of several addresses the least
 * busy is called; one that refuses, breaks, is late or misses a heartbeat is left out for a while, and another one is
 * called as far as the call allows.
 */
export class InternalClient {
  private readonly replicas: Replicas;
  private readonly authorization: string;

  constructor({ url, token, ...options }: NeighbourAddress) {
    this.replicas = new Replicas(url, options);
    this.authorization = `Bearer ${token}`;
  }

  /** The whole answer, whatever its status. Throws NeighbourAway, or ExchangeAborted where the signal ended it. */
  ask(call: InternalCall): Promise<InternalAnswer> {
    return this.open(call, async (exchange) => {
      const { status, headers } = exchange;
      return { status, headers, text: await exchange.text(ANSWER_LIMIT_BYTES) };
    });
  }

  /**
   * What `take` makes of an answer once its head is there. `broken` counts the addresses that broke off before. While `take`
   * runs, a connection that breaks is a failure of the address. Throws as `ask` does.
   */
  async open<Value>(call: InternalCall, take: Take<Value>): Promise<Value> {
    const endMs = performance.now() + call.deadlineMs;
    const asked = new Set<Replica>();
    let broken = 0;
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt === ATTEMPTS;
      // One address may be a name with several replicas behind it.
      const replica = this.replicas.next(asked) ?? this.replicas.next(NONE);
      if (!replica) throw new RangeError('a neighbour has an address');
      asked.add(replica);
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
        if (isLast || !isWorthIt || performance.now() >= endMs) throw new NeighbourAway(failure, isUndone);
        if (!isUndone) broken += 1;
      }
    }
  }

  close(): Promise<void> {
    return this.replicas.close();
  }

  private start(
    replica: Replica,
    call: InternalCall,
    attempt: {
      readonly deadlineMs: number;
      /** Whether it may be made elsewhere when this address misses a heartbeat. */
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
    return Exchange.start(replica.pool, request, { signal, onEnd, unanswered });
  }
}

/** Whether the address should rest. One that missed a heartbeat is back as soon as it answers one. */
function isFault(failure: Error | undefined): boolean {
  return failure !== undefined && !(failure instanceof ExchangeAborted || failure instanceof HeartbeatMissed);
}

/** How a call ended, for metrics. */
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

const NO_CONNECTION = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);
