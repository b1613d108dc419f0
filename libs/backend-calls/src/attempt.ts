import { type CallKind, isMadeOnce } from '@svc/contracts/inference';
import { type Exchange, ExchangeAborted } from '@svc/runtime';
import { SPAN_KIND, type Step, beginStep, errorType, genAi, router } from '@svc/telemetry';
import type { GiveBack } from './backend-load.js';
import type { LiveBackend } from './backend-pool.js';
import { isImageCall } from './backend-refusal.js';
import { promptTokensIn } from './choice/reported-tokens.js';
import type { UsedTokens } from './sharing/token-queue.js';
import { usedTokens } from './sharing/used-tokens.js';
import { type CallWork, type WorkingCall, reasonOf } from './choice/server-work.js';
import type { WaitingCall } from './health/backend-health.js';

/** The slot in which a backend is called. */
interface CallSlot {
  readonly live: LiveBackend;
  readonly giveBack: GiveBack;
  /** Whether it matters how many tokens the call uses. */
  readonly isShared: boolean;
  /** Whether the backend works on after its response, so that its slot is not free. */
  readonly isQueued: boolean;
  readonly accountId: string;
}

/** The purpose of a call to a backend. */
interface AttemptedCall {
  readonly kind: CallKind;
  readonly model: string;
  readonly isStream: boolean;
  /** The attempt's number among those of the request, from 1. */
  readonly number: number;
  /** If there was a choice of backends. */
  readonly work: CallWork | undefined;
}

/**
 * One call to a backend, measured from the request to the last byte of the response: a span, and for chats
 * metrics of its duration.
 */
export class Attempt implements WaitingCall {
  readonly startMs = performance.now();
  readonly step: Step | undefined;
  /** Set once the call is sent. */
  exchange: Exchange | undefined;
  private readonly working: WorkingCall | undefined;
  private hasBegun = false;
  private error = '';
  private isOver = false;
  private used: UsedTokens | undefined;
  /**
   * To be called when the exchange has ended. Frees the backend's slot, unless the backend goes on working.
   * The exchange keeps this function until then, so it is not made where it would keep the body of the call.
   */
  readonly ended = (failure: Error | undefined, exchange: Exchange): void => {
    this.report(exchange);
    if (failure || !this.slot.isQueued) this.end(failure);
  };

  constructor(
    private readonly slot: CallSlot,
    private readonly call: AttemptedCall,
  ) {
    const { kind, model, isStream, number, work } = call;
    const { health } = slot.live;
    health.began(this);
    // Another backend could not be called instead.
    if (!isMadeOnce(kind)) health.waiting.add(this);
    if (number > 1) health.retrying += 1;
    this.working = work && slot.live.work.begin(work, this.startMs);
    if (this.working && number === 1) router.choices.add(1, model, slot.live.name, reasonOf(this.working));
    this.step = beginStep(`${kind} ${model}`);
    if (!this.step) return;
    this.step.kind = SPAN_KIND.client;
    this.step.set({
      ...genAi,
      'gen_ai.operation.name': operationOf(kind),
      'gen_ai.request.model': model,
      // The semantic convention requires it for streams only.
      'gen_ai.request.stream': isStream || undefined,
      'svc.backend': slot.live.name,
      'svc.attempt': number,
    });
  }

  /** The backend has begun to respond, or has made what it queued. */
  began(): void {
    const { kind, model, isStream } = this.call;
    this.step?.note('first chunk');
    const seconds = this.seconds;
    this.hasBegun = true;
    if (this.working) this.slot.live.work.answered(this.working, performance.now());
    this.slot.live.health.succeeded(this, isStream ? seconds * 1_000 : undefined);
    if (this.slot.isQueued) this.end(undefined);
    if (!isStream) return;
    this.step?.set({ 'gen_ai.response.time_to_first_chunk': seconds });
    if (kind !== 'chat') return;
    router.firstChunk.with(model, this.slot.live.name).record(seconds, this.step?.trace.measured);
  }

  giveUp(error: Error): void {
    this.exchange?.abort(error);
  }

  /** Ends the call, even if it was never sent. */
  abort(): void {
    if (this.exchange) this.exchange.abort();
    else this.end(undefined);
  }

  /** The call has failed, and is about to end. */
  failed(error: unknown): void {
    this.error = errorType(error);
    this.step?.fail(error);
    if (this.slot.isQueued) this.end(undefined);
  }

  /** What the backend has reported about the tokens. */
  private report({ end, receivedBytes }: Exchange): void {
    const { working, slot, call } = this;
    if (slot.isShared) this.used = usedTokens(end, receivedBytes);
    const tokens = working && working.promptTokens > 0 ? promptTokensIn(end) : undefined;
    if (!working || !tokens) return;
    slot.live.work.reported(working, tokens);
    router.promptTokens.add(tokens.cached, call.model, slot.live.name, 'cached');
    router.promptTokens.add(tokens.all - tokens.cached, call.model, slot.live.name, 'computed');
  }

  private end(failure: Error | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    const { live, giveBack, accountId } = this.slot;
    const { health } = live;
    health.left(this);
    if (this.call.number > 1) health.retrying -= 1;
    giveBack(this.used);
    if (this.working) live.work.ended(this.working);
    // An aborted call has delivered what its reader wanted, so it is not a failure.
    if (failure && !(failure instanceof ExchangeAborted) && this.error === '') {
      if (this.hasBegun) health.wasCut(accountId);
      this.failed(failure);
    } else this.step?.end();
    if (this.call.kind !== 'chat') return;
    router.duration
      .with(this.call.model, live.name, this.error)
      .record(this.seconds, this.step?.trace.measured);
  }

  private get seconds(): number {
    return (performance.now() - this.startMs) / 1_000;
  }
}

/** The kinds for which the semantic convention has no name: counts, jobs, nodes and enclaves. */
const isUnnamed = (
  kind: CallKind,
): kind is Extract<CallKind, `${'prompt' | 'job' | 'rpc' | 'tee'}${string}`> =>
  /^(?:prompt|job|rpc|tee)/.test(kind);

function operationOf(kind: CallKind) {
  if (isUnnamed(kind)) return undefined;
  return isImageCall(kind) ? 'image' : kind;
}
