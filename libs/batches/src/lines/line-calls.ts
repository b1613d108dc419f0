import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { routes } from '@svc/api';
import type { RouteDefinition } from '@svc/api/route';
import type { BatchEndpoint } from '@svc/api/batches';
import type { Caller } from '@svc/contracts/ports';
import type { Charge } from '@svc/contracts/messages';
import { Problem, errorBody } from '@svc/contracts/problems';
import { GatewaySettings } from '@svc/paid';
import { type ClaimedRequest, RepeatedRequests, type RequestLease, digestOf } from '@svc/paid/repeats';
import { InnerCalls, RootLogger, uuidOf } from '@svc/runtime';
import type { LineResponse } from './result-lines.js';
import type { SharedTurns } from './shared-turns.js';

/** The most bytes of a response: more than the largest that an endpoint makes of a line. */
const RESPONSE_BYTES = 268_435_456;

/** Beyond the time limit of the endpoint itself. */
const MARGIN_MS = 60_000;

/** How often a line may fail at its endpoint. Refusals because all is busy do not count. */
const FAILURES = 3;

const FIRST_WAIT_MS = 500;
const LAST_WAIT_MS = 30_000;

export interface SentLine {
  readonly batchId: string;
  readonly accountId: string;
  readonly endpoint: BatchEndpoint;
  readonly number: number;
  readonly body: Buffer;
}

/** The run that a line belongs to. */
export interface LineRun {
  /** Aborted when no further line may begin. */
  readonly stop: AbortSignal;
  /** Aborted when lines under way are given up, unless they are charged. */
  readonly cancelled: AbortSignal;
  readonly turns: SharedTurns;
  /** As whom lines are sent now. Rejects: AUTHENTICATION_FAILED, UNAVAILABLE. */
  caller(): Promise<Caller>;
}

/**
 * Whether the result of a line is the response to its request. `unknown`: it may not be stored, and another
 * process sends the line again.
 */
export type LineOutcome = 'delivered' | 'undelivered' | 'unknown';

/** A final response. */
export interface FinalResponse {
  readonly response: LineResponse;
  /** Undefined if it costs nothing. */
  readonly charge: Charge | undefined;
  /** What this process must still have when the response is stored. Undefined if it was never claimed. */
  readonly lease: RequestLease | undefined;
  /** Called once it is known what became of the response. What is charged without one is given back. */
  readonly ended: (outcome: LineOutcome) => Promise<void>;
}

/**
 * Sends lines to their endpoints as requests of this process to itself. Each is a request that may be
 * repeated, as those with an `Idempotency-Key` are: whatever crashes, it is charged once.
 */
@Injectable()
export class LineCalls {
  constructor(
    private readonly inner: InnerCalls,
    private readonly repeats: RepeatedRequests,
    private readonly settings: GatewaySettings,
    private readonly logger: RootLogger,
  ) {}

  /**
   * Gives back what the lines of a batch have cost that have no response, and takes them from the processes
   * that send them. May be repeated. Rejects: UNAVAILABLE.
   */
  async giveBackAll({ batchId, accountId }: Pick<SentLine, 'batchId' | 'accountId'>): Promise<void> {
    const charges = await this.repeats.releaseAll(accountId, keyOf({ batchId, number: '' }));
    for (const charge of charges) await this.repeats.giveBack(charge);
  }

  /** Tries until the response is final; undefined if the run stops before. Rejects: UNAVAILABLE. */
  async final(line: SentLine, run: LineRun): Promise<FinalResponse | undefined> {
    let owed: Charge | undefined;
    for (let failures = 0, tries = 0; !run.stop.aborted; tries += 1) {
      const sending = new Sending(line, run, this.repeats);
      const { isBusy, ...tried } = await this.tried(sending);
      const { status } = tried;
      if (isUnserved(status) && !isBusy) failures += 1;
      if (!isUnserved(status) || failures >= FAILURES) {
        const { claimed } = sending;
        const charge = status < 300 ? claimed?.charge : undefined;
        const { lease } = claimed ?? {};
        return { response: tried, charge, lease, ended: (outcome) => this.ended(claimed, outcome) };
      }
      owed = await sending.claimed?.released();
      const waitMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(tries, 10), LAST_WAIT_MS);
      const { stop: signal } = run;
      await sleep(waitMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    }
    if (owed) await this.repeats.giveBack(owed);
    return undefined;
  }

  /** What is not given back because this rejects, the process that continues the batch gives back. */
  private async ended(claimed: ClaimedRequest | undefined, outcome: LineOutcome): Promise<void> {
    if (outcome !== 'undelivered') return claimed?.left();
    const owed = await claimed?.released();
    if (owed) await this.repeats.giveBack(owed);
  }

  /** Sends a line once. Without a response, the result is what a client would get for the problem. */
  private async tried(sending: Sending): Promise<TriedLine> {
    const { line, run } = sending;
    try {
      // Claimed even if its key is revoked: so it is known whether an ended process has charged it.
      const requestId = await sending.requestId();
      const caller = await run.caller();
      const post = (): Promise<LineResponse> =>
        sending.unlessCancelled((signal) => this.post(line, { caller, requestId }, signal));
      const response = await run.turns.shared(post);
      // Money that lines side by side hold is not missing once they have ended.
      const last = response.status === 402 ? await run.turns.alone(post) : response;
      return { ...last, isBusy: isBusy(last.status) };
    } catch (error) {
      const problem = error instanceof Problem ? error : new Problem('REQUEST_TIMEOUT', { cause: error });
      if (!(error instanceof Problem) && !run.cancelled.aborted)
        this.logger.log.warn({ err: error, batchId: line.batchId, line: line.number }, 'a line failed');
      const { knownId: requestId } = sending;
      const body = routeTo(line.endpoint)?.errors?.bodyOf(problem, requestId) ?? errorBody(problem);
      // Another process has begun it, which may have charged it: its end, or that of its lease, is awaited.
      const isBegun = problem.code === 'REQUEST_IN_PROGRESS';
      const response = { status: problem.status, requestId, body: JSON.stringify(body) };
      return { ...response, isBusy: isBegun || isBusy(problem.status) };
    }
  }

  private async post(
    { endpoint, body }: SentLine,
    sender: { readonly caller: Caller; readonly requestId: string },
    signal: AbortSignal,
  ): Promise<LineResponse> {
    const deadlineMs = this.settings.config.GATEWAY_RESPONSE_TIMEOUT_MS + MARGIN_MS;
    const call = { path: `/api${endpoint}`, body, limitBytes: RESPONSE_BYTES, deadlineMs, signal };
    const { status, body: received } = await this.inner.post(sender, call);
    return { status, requestId: sender.requestId, body: received.toString() };
  }
}

interface TriedLine extends LineResponse {
  /** Whether another try costs nothing but time. */
  readonly isBusy: boolean;
}

/** An attempt to send a line. */
class Sending {
  /** Its request, once it is claimed. */
  claimed: ClaimedRequest | undefined;
  knownId = '';

  constructor(
    readonly line: SentLine,
    readonly run: LineRun,
    private readonly repeats: RepeatedRequests,
  ) {}

  /** The id under which it is charged. Rejects: REQUEST_IN_PROGRESS, UNAVAILABLE. */
  async requestId(): Promise<string> {
    const claim = await this.claim();
    this.claimed = claim;
    this.claimed = await this.repeats.afresh(claim, this.idOf(`after ${claim.requestId}.`));
    this.knownId = this.claimed.requestId;
    return this.knownId;
  }

  private async claim(): Promise<ClaimedRequest> {
    const { accountId, batchId, number, body, endpoint } = this.line;
    const key = keyOf({ batchId, number });
    const claim = await this.repeats.claim({
      accountId,
      key,
      digest: digestOf([endpoint, '\n', body]),
      // The same in every process, so that a line whose claim is lost in a restore is charged once.
      requestId: this.idOf(key),
      mayStore: false,
    });
    // A line that has ended has its result, unless that was lost with its process.
    if (!('requestId' in claim)) throw new Problem('REQUEST_ALREADY_MADE');
    return claim;
  }

  private idOf(name: string): string {
    return `${routeTo(this.line.endpoint)?.idPrefix ?? 'req-'}${uuidOf(name).replaceAll('-', '')}`;
  }

  /** Does work that is aborted when the run is cancelled, as long as it is not charged. */
  async unlessCancelled<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const { cancelled } = this.run;
    const leaving = new AbortController();
    const leave = (): void => {
      if (this.claimed?.withdraw() === true) leaving.abort();
    };
    cancelled.addEventListener('abort', leave);
    if (cancelled.aborted) leave();
    try {
      return await work(leaving.signal);
    } finally {
      cancelled.removeEventListener('abort', leave);
    }
  }
}

/** Clients' keys have no spaces. */
const keyOf = ({ batchId, number }: { readonly batchId: string; readonly number: number | '' }): string =>
  `${batchId} ${number}`;

const isBusy = (status: number): boolean => status === 429 || status === 503;

/** Whether another try may have another outcome: the service was busy, failed, or is still at it. */
const isUnserved = (status: number): boolean => status === 429 || status >= 500 || status === 409;

const ROUTES = new Map<string, RouteDefinition>(
  Object.values(routes)
    .filter(({ method }) => method === 'POST')
    .map((route) => [route.path, route]),
);

const routeTo = (endpoint: BatchEndpoint): RouteDefinition | undefined => ROUTES.get(`/api${endpoint}`);
