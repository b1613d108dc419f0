import { Injectable } from '@nestjs/common';
import { type Charge, decodeCharge, encodeCharge } from '@svc/contracts/messages';
import { Charges } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { PassingMap, type Logger, RootLogger, retrying } from '@svc/runtime';
import type { StoredResponse, Repeat } from '../http/repeat.js';
import {
  type NamedRequest,
  RepeatedRequestStore,
  type RepeatedRow,
  type RequestLease,
} from './repeated-request.store.js';
import { type RequestDigest, seal, unseal } from './sealed-answer.js';

/** A process that works on a request renews its lease; another one may take over after it has ended. */
const LEASE_MS = 10_000;
const RENEW_MS = 3_000;

/** A refused charge is blocked under its id, so the request must not be taken over with it. */
const FORGETTING = { firstMs: 100, lastMs: 1_000, deadlineMs: LEASE_MS / 2 };

/** A request that was just deleted can be begun again. */
const ATTEMPTS = 3;

/** A request as its key names it. */
export interface KeyedRequest extends Omit<NamedRequest, 'bodySha256'> {
  readonly digest: RequestDigest;
  readonly requestId: string;
  /** Whether its response may be stored. */
  readonly mayStore: boolean;
}

/** A request with a key that this process makes, under the id of the first request with the key. */
export class ClaimedRequest implements Repeat {
  readonly requestId: string;
  readonly isTakenOver: boolean;
  /** What an earlier attempt has stored, which may or may not have made that charge. */
  readonly earlierCharge: Charge | undefined;
  private readonly renewing: NodeJS.Timeout;
  readonly lease: RequestLease;
  private isCharged: boolean;
  /** Whether its charge may be stored. */
  private isCharging = false;
  private isWithdrawn = false;
  private isRefused = false;
  private made: Charge | undefined;
  private isEnded = false;
  private readonly ending = Promise.withResolvers<void>();

  constructor(
    readonly request: KeyedRequest,
    { version, request_id: requestId, charge }: RepeatedRow,
    private readonly neighbours: {
      readonly store: RepeatedRequestStore;
      readonly log: Logger;
      readonly onEnd: () => void;
    },
  ) {
    const { accountId, key } = request;
    this.lease = { accountId, key, version };
    this.requestId = requestId;
    this.isTakenOver = version > 0;
    this.isCharged = charge !== null;
    this.earlierCharge = charge ? decodeCharge(charge) : undefined;
    // It never rejects, and a renewal that fails is repeated.
    const renew = (): Promise<void> => neighbours.store.renew(this.lease, LEASE_MS).catch(() => undefined);
    this.renewing = setInterval(() => void renew(), RENEW_MS).unref();
  }

  /** Resolves when it has its response, or has ended without one. */
  get whenEnded(): Promise<void> {
    return this.ending.promise;
  }

  /** Its charge, once this process has made it. */
  get charge(): Charge | undefined {
    return this.made;
  }

  /** Gives the request up, unless its charge may be stored. If so returns true, and it is never charged. */
  withdraw(): boolean {
    this.isWithdrawn ||= !this.isCharging && !this.isCharged;
    return this.isWithdrawn;
  }

  async charged(charge: Charge): Promise<Charge> {
    if (this.isWithdrawn || this.isRefused) throw new Problem('REQUEST_IN_PROGRESS');
    this.isCharging = true;
    const stored = await reached(this.neighbours.store.charge(this.lease, encodeCharge(charge)));
    if (!stored) throw new Problem('REQUEST_IN_PROGRESS');
    this.isCharged = true;
    this.made = decodeCharge(stored);
    return this.made;
  }

  refused(): void {
    this.isRefused = true;
    this.isCharging = false;
    this.isCharged = false;
    this.made = undefined;
  }

  /**
   * It ends without a response, and is never charged from then on. Resolves to the charge that is stored for
   * it, which is to be given back. Rejects with UNAVAILABLE if that cannot be known.
   */
  async released(): Promise<Charge | undefined> {
    const isFree = this.withdraw() && !this.isRefused;
    const releasing = this.neighbours.store.release(this.lease);
    await this.end(releasing);
    if (isFree) return undefined;
    const charge = await reached(releasing);
    return charge && decodeCharge(charge);
  }

  /** Leaves it as it is to the process that takes over. */
  async left(): Promise<void> {
    if (!this.isEnded) await this.end(Promise.resolve());
  }

  async answered(answer: StoredResponse): Promise<void> {
    const { mayStore, digest } = this.request;
    await this.answer(mayStore ? seal(answer, digest.secret) : undefined);
  }

  /** It ends without a response that could be stored: it was refused, streamed, or its client left. */
  async ended(isMade: boolean): Promise<void> {
    clearInterval(this.renewing);
    if (this.isEnded) return;
    const { store } = this.neighbours;
    if (this.isRefused) await this.end(retrying(() => store.forget(this.lease, this.requestId), FORGETTING));
    else if (isMade || this.made) await this.answer(undefined);
    // Charged by an earlier process, and refused now: the next repetition may get its response.
    else if (this.isCharged) await this.end(Promise.resolve());
    else await this.end(store.drop(this.lease));
  }

  private async answer(answer: Buffer | undefined): Promise<void> {
    if (!this.isEnded) await this.end(this.neighbours.store.made(this.lease, answer));
  }

  /** What fails here is done by the process that takes over. */
  private async end(change: Promise<unknown>): Promise<void> {
    this.isEnded = true;
    clearInterval(this.renewing);
    try {
      await change;
    } catch (error) {
      const { requestId } = this;
      const { log } = this.neighbours;
      log.warn({ err: error, requestId }, 'the end of a request with a key could not be stored');
    }
    this.neighbours.onEnd();
    this.ending.resolve();
  }
}

/**
 * Requests with an `Idempotency-Key`. One process at a time makes such a request. Its charge is stored before
 * it is made, so a process that takes over knows what to give back.
 */
@Injectable()
export class RepeatedRequests {
  /** Those that this process is making, by the id of their charge. */
  private readonly underWay = new PassingMap<string, ClaimedRequest>();

  constructor(
    private readonly store: RepeatedRequestStore,
    private readonly charges: Charges,
    private readonly logger: RootLogger,
  ) {}

  /**
   * Claims a request, or returns the response of the same request. Refuses: REQUEST_IN_PROGRESS,
   * IDEMPOTENCY_KEY_REUSED, REQUEST_ALREADY_MADE, UNAVAILABLE.
   */
  async claim(request: KeyedRequest): Promise<ClaimedRequest | StoredResponse> {
    const { accountId, key, digest, requestId } = request;
    const named = { accountId, key, bodySha256: digest.sha256 };
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const row = await reached(this.store.lease(named, requestId, LEASE_MS));
      if (row) return this.begun(request, row);
      const known = await reached(this.store.find(named));
      if (!known) continue;
      if (known.body_sha256 !== digest.sha256) throw new Problem('IDEMPOTENCY_KEY_REUSED');
      if (!known.is_made) break;
      if (known.answer) return unseal(known.answer, digest.secret);
      throw new Problem('REQUEST_ALREADY_MADE', { message: alreadyMade(known.request_id) });
    }
    throw new Problem('REQUEST_IN_PROGRESS');
  }

  /** The request with this id, if it has a key and this process is making it. */
  find(requestId: string): Repeat | undefined {
    return this.underWay.get(requestId);
  }

  /**
   * Nobody can say what became of the charge that an earlier attempt has stored: the ledger may have refused
   * it, and then blocks it. So that is given back, and the request is made under another id; the claim before
   * ends. Refuses: REQUEST_IN_PROGRESS if another process has it, UNAVAILABLE.
   */
  async afresh(claimed: ClaimedRequest, requestId: string): Promise<ClaimedRequest> {
    const { earlierCharge } = claimed;
    if (!earlierCharge) return claimed;
    await this.giveBack(earlierCharge);
    await claimed.left();
    const row = await reached(this.store.rename(claimed.lease, requestId, LEASE_MS));
    if (!row) throw new Problem('REQUEST_IN_PROGRESS');
    return this.begun(claimed.request, row);
  }

  /** Gives back what a request has cost that has no response. May be repeated. Refuses: UNAVAILABLE. */
  async giveBack(charge: Charge): Promise<void> {
    await reached(this.charges.giveBack(charge));
  }

  /**
   * Takes the requests without a response whose keys have this beginning from the processes that make them:
   * those are not charged from then on. Returns the charges that are stored, which are to be given back.
   */
  async releaseAll(accountId: string, beginning: string): Promise<readonly Charge[]> {
    const charges = await reached(this.store.releaseAll(accountId, beginning));
    return charges.map(decodeCharge);
  }

  private begun(request: KeyedRequest, row: RepeatedRow): ClaimedRequest {
    const { store } = this;
    const onEnd = (): void => void this.underWay.delete(row.request_id);
    const claimed = new ClaimedRequest(request, row, { store, log: this.logger.log, onEnd });
    this.underWay.set(row.request_id, claimed);
    return claimed;
  }
}

const alreadyMade = (requestId: string): string =>
  `The request with this Idempotency-Key was made as ${requestId}. Its response is not stored. This repetition costs nothing.`;

async function reached<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new Problem('UNAVAILABLE', { cause: error });
  }
}
