import type { Admission, AdmitRequest, Hold, HoldRequest, Ledger, Limiter } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { RootLogger } from '@svc/runtime';
import { traced } from '@svc/telemetry';
import { LRUCache } from 'lru-cache';
import { type ClaimRefusal, Contention, type ClaimPause } from './contention.js';

/** What a request needs before it can begin. */
export interface Needs {
  readonly request: AdmitRequest;
  readonly hold: HoldRequest;
}

/** The error of a call. */
export class FailedCall {
  constructor(readonly reason: unknown) {}
}

/** The last results of limiter and ledger; without one if it was not called. */
interface Results {
  readonly admission?: Admission | FailedCall | undefined;
  readonly held?: Hold | FailedCall | undefined;
}

/** A refused claim has given back what it was granted. */
export interface ClaimOutcome extends Results {
  readonly refusal: ClaimRefusal | undefined;
}

/** Contentions remembered at once. */
const MAX_CONTENTIONS = 10_000;

/**
 * Claims a request's place in the limits and its money, both or none. The usual request claims both at once.
 * What a refused one was granted meanwhile is missed by others, so the limiter and the ledger call a refusal
 * provisional if it may pass, and such a request tries again. See docs/limits.md.
 */
export class Claims {
  private readonly admit = (_step: unknown, request: AdmitRequest) => this.limiter.admit(request);
  private readonly hold = (_step: unknown, request: HoldRequest) => this.ledger.hold(request);
  private readonly contentions = new LRUCache<string, Contention>({ max: MAX_CONTENTIONS });

  constructor(
    private readonly limiter: Limiter,
    private readonly ledger: Ledger,
    private readonly logger: RootLogger,
    private readonly pause?: ClaimPause,
  ) {}

  /** Returns the outcome instead of a promise if it is granted and neither claim has to wait. */
  claim(needs: Needs): ClaimOutcome | Promise<ClaimOutcome> {
    const known = this.contentions.size > 0 ? this.contentions.get(contentionOf(needs)) : undefined;
    if (known && !known.isOver) return this.granted(needs, this.inOrder(needs, known));
    const admission = this.admitted(needs);
    const held = this.held(needs);
    if (!(admission instanceof Promise) && !(held instanceof Promise)) {
      const results = { admission, held, refusal: undefined };
      if (!refusalIn(results)) return results;
    }
    return this.granted(needs, this.atOnce(needs, admission, held));
  }

  /** Tries again if the first attempt was refused. */
  private async granted(needs: Needs, attempt: Promise<ClaimOutcome>): Promise<ClaimOutcome> {
    const claim = await attempt;
    if (!claim.refusal) return claim;
    const contention = this.contention(contentionOf(needs));
    contention.note(claim.refusal);
    return contention.retried(claim, () => this.inOrder(needs, contention, claim));
  }

  private contention(name: string): Contention {
    const known = this.contentions.get(name);
    if (known) return known;
    const contention = new Contention(this.pause);
    this.contentions.set(name, contention);
    return contention;
  }

  private async atOnce(
    needs: Needs,
    admission: Result<Admission>,
    held: Result<Hold>,
  ): Promise<ClaimOutcome> {
    // Neither rejects.
    return this.decided(needs, { admission: await admission, held: await held });
  }

  /** Claims what was refused last, and only if that is granted the other. */
  private async inOrder(needs: Needs, contention: Contention, earlier: Results = {}): Promise<ClaimOutcome> {
    const isLimitsFirst = contention.first === 'limits';
    const first: Results = isLimitsFirst
      ? { admission: await this.admitted(needs) }
      : { held: await this.held(needs) };
    const refusal = refusalIn(first);
    if (refusal) {
      contention.note(refusal);
      return { ...earlier, ...first, refusal };
    }
    const second: Results = isLimitsFirst
      ? { held: await this.held(needs) }
      : { admission: await this.admitted(needs) };
    const claim = await this.decided(needs, { ...first, ...second });
    if (claim.refusal) contention.note(claim.refusal);
    return claim;
  }

  private async decided(needs: Needs, results: Results): Promise<ClaimOutcome> {
    const refusal = refusalIn(results);
    if (refusal) await this.giveBack(needs, results);
    return { ...results, refusal };
  }

  private admitted({ request }: Needs): Result<Admission> {
    return withFailure(traced('admit', this.admit, request));
  }

  private held({ hold }: Needs): Result<Hold> {
    return withFailure(traced('hold', this.hold, hold));
  }

  /** What cannot be given back expires. The client still gets the original refusal. */
  private async giveBack({ request }: Needs, { admission, held }: Results): Promise<void> {
    const givings: (Promise<void> | undefined)[] = [];
    const admitted = resultOf(admission);
    const hold = resultOf(held);
    if (admitted?.admitted) givings.push(this.limiter.release(request, admitted));
    if (hold) givings.push(this.ledger.release(hold));
    for (const given of await Promise.allSettled(givings.filter((giving) => giving !== undefined)))
      if (given.status === 'rejected')
        this.logger.log.error(
          { err: given.reason, requestId: request.requestId },
          'the hold or limit share of a rejected request could not be released and will expire',
        );
  }
}

/** Requests with the same name compete for the same limits. */
function contentionOf({ request: { accountId, keyId, resource } }: Needs): string {
  return `${accountId} ${keyId} ${resource.kind} ${resource.name}`;
}

/** A final refusal comes before a provisional one, whatever the other result is. */
function refusalIn(results: Results): ClaimRefusal | undefined {
  const limits = refusedLimits(results);
  const money = refusedMoney(results);
  if (limits && money) return limits.isProvisional && !money.isProvisional ? money : limits;
  return limits ?? money;
}

function refusedLimits({ admission }: Results): ClaimRefusal | undefined {
  if (!admission) return undefined;
  if (admission instanceof FailedCall) return { by: 'limits', isProvisional: false };
  return admission.admitted ? undefined : { by: 'limits', isProvisional: admission.isProvisional === true };
}

function refusedMoney({ held }: Results): ClaimRefusal | undefined {
  if (!(held instanceof FailedCall)) return undefined;
  const { reason } = held;
  return { by: 'money', isProvisional: reason instanceof Problem && reason.isProvisional };
}

/** The result of a call, which is a promise if the call returned one. It never rejects. */
type Result<Value> = Value | Promise<Value | FailedCall>;

const withFailure = <Value>(result: Value | Promise<Value>): Result<Value> =>
  result instanceof Promise ? result.catch((reason: unknown) => new FailedCall(reason)) : result;

/** The result of a call that was made and has not failed. */
export const resultOf = <Value>(result: Value | FailedCall | undefined): Value | undefined =>
  result instanceof FailedCall ? undefined : result;
