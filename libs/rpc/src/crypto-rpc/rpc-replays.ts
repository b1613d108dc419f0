import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import { RootLogger } from '@svc/runtime';
import {
  type NamedRequest,
  type RequestLease,
  RpcRequestsStore,
  type StoredResponse,
} from './rpc-requests.store.js';

/** A process that works on a request renews its lease; another one may take over after it has ended. */
const LEASE_MS = 10_000;
const RENEW_MS = 3_000;

const FORGET_MS = 60_000;

/** A request that was just deleted can be begun again. */
const ATTEMPTS = 3;

/** A request that this process is to make. */
export interface ClaimedRequest {
  readonly lease: RequestLease;
  /** Whether an earlier process may have made it. */
  readonly mayBeSent: boolean;
  /** The response of the earlier process, which may have charged it. */
  readonly earlier?: StoredResponse;
}

/**
 * Requests with an `Idempotency-Key`. One process at a time makes such a request. Its response is stored
 * before it is charged, under a request id that stays the same, so a process that takes over charges the same
 * once.
 */
@Injectable()
export class RpcReplays implements OnModuleInit, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: RpcRequestsStore,
    private readonly logger: RootLogger,
  ) {}

  onModuleInit(): void {
    // A failure is retried next time.
    this.timer = setInterval(() => void this.store.forget().catch(() => undefined), FORGET_MS).unref();
  }

  onApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /**
   * Claims a request, or returns the response of the same request. Refuses: REQUEST_IN_PROGRESS,
   * IDEMPOTENCY_KEY_REUSED, UNAVAILABLE.
   */
  async claim(named: NamedRequest, requestId: string): Promise<ClaimedRequest | StoredResponse> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const row = await reached(this.store.lease(named, requestId, LEASE_MS));
      if (row) {
        const { version, request_id: id } = row;
        const lease = { ...named, requestId: id, version };
        const claimed = { lease, mayBeSent: version > 0 };
        return row.state === 'answered' ? { ...claimed, earlier: storedOf(row) } : claimed;
      }
      const known = await reached(this.store.find(named));
      if (!known) continue;
      if (known.body_sha256 !== named.bodySha256) throw new Problem('IDEMPOTENCY_KEY_REUSED');
      if (known.state === 'charged') return storedOf(known);
      break;
    }
    throw new Problem('REQUEST_IN_PROGRESS');
  }

  /** Keeps the lease during an operation. Afterwards the request is charged, or forgotten. */
  async during<Result>({ lease }: ClaimedRequest, operation: () => Promise<Result>): Promise<Result> {
    const renew = (): Promise<unknown> => this.store.renew(lease, LEASE_MS).catch(() => undefined);
    // It never rejects, and a renewal that fails is repeated.
    const timer = setInterval(() => void renew(), RENEW_MS);
    let isCharged: boolean | undefined = false;
    try {
      const result = await operation();
      isCharged = await this.logged(lease, this.store.charged(lease));
      return result;
    } finally {
      clearInterval(timer);
      if (isCharged === false) await this.logged(lease, this.store.drop(lease));
    }
  }

  /** Stores a response. Refuses: REQUEST_IN_PROGRESS if another process has taken over, UNAVAILABLE. */
  async answer({ lease }: ClaimedRequest, response: StoredResponse): Promise<void> {
    const isMine = await reached(this.store.answer(lease, response));
    if (!isMine) throw new Problem('REQUEST_IN_PROGRESS');
  }

  /** What fails here is done by the process that takes over. */
  private async logged<Result>(
    { requestId }: RequestLease,
    change: Promise<Result>,
  ): Promise<Result | undefined> {
    try {
      return await change;
    } catch (error) {
      this.logger.log.warn({ err: error, requestId }, 'the end of a request with a key could not be stored');
      return undefined;
    }
  }
}

const storedOf = ({
  credits = 0,
  backend = '',
  response = null,
}: Partial<StoredResponse>): StoredResponse => ({
  credits,
  backend,
  response,
});

async function reached<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new Problem('UNAVAILABLE', { cause: error });
  }
}
