import { type Balances, usdNumber } from '@svc/contracts/money';
import {
  type ChatResponse,
  type RepeatedPiece,
  type Repetition,
  type WrittenAround,
  unusable,
} from '@svc/contracts/inference';
import type { Cost } from '@svc/api/chat';
import { Problem } from '@svc/contracts/problems';
import type { Usage } from '@svc/contracts/messages';
import { traced } from '@svc/telemetry';
import type { Meter } from '../tokens/meter.js';
import type { CompletionHead } from './completion-head.js';
import type { InternalToolCall } from './internal-tool.js';
import type { ChoicePiece } from './assembled-choice.js';
import type { OutputNormaliser } from './normaliser.js';

/** What a response ran out of. Clients see both as `length`. */
export type Shortage = 'out_of_money' | 'out_of_tokens';

/** Reasons for ending a response before its backend does. */
type EarlyEnd = 'client_gone' | Shortage;

/** How a response ended. */
export type Ending =
  | { readonly kind: 'done' | Shortage }
  /** With a problem if something else also failed; it is only logged. */
  | { readonly kind: 'client_gone'; readonly problem?: Problem }
  | { readonly kind: 'cut'; readonly problem: Problem };

/** A response that has been charged. */
export interface ChargedOutput {
  readonly ending: Ending;
  readonly usage: Usage;
  readonly cost: Balances;
  /** Whether the last backend call produced any output. */
  readonly hasOutput: boolean;
}

/** Writes pieces that repeat an earlier one apart from their text. */
export interface RepeatingEncoder {
  /** What was written around the text of the piece that was added last. */
  readonly around: WrittenAround;
  addRepeated(piece: RepeatedPiece, textJson: string): void;
}

/** Writes a response to its client: each piece as it arrives, or one document at the end. */
export interface ResponseEncoder {
  /** Whether the client gets pieces as they arrive. They are charged whatever happens next. */
  readonly isLive: boolean;
  /** Whether the client has disconnected. */
  readonly isGone: boolean;
  add(pieces: readonly ChoicePiece[]): void;
  /** Undefined if chunks that repeat an earlier one must be added as pieces too. */
  readonly repeating: RepeatingEncoder | undefined;
  /** Continues with the response of a follow-up backend call. */
  continueWith(normaliser: OutputNormaliser, about: CompletionHead): void;
  /** Sends what was added. Returns a promise if the client must read before more can be sent. */
  flush(): Promise<void> | undefined;
  /** Ends the response, after everything that was added. */
  end(settled: ChargedOutput): Promise<void> | void;
}

/** The most characters that a backend may send for a response that is not streamed to the client. */
const BUFFERED_CHARACTERS = 67_108_864;

const NO_PIECES: readonly ChoicePiece[] = [];

const DONE: Ending = { kind: 'done' };

/** Holds money ahead of the output of a response. */
export interface OutputHold {
  /** The reason for the lack of money. */
  readonly refusal: Problem;
  /**
   * Whether the hold covers the metered tokens. Checked first, since awaiting each chunk would cost more than
   * the chunk.
   */
  isAhead(meter: Meter): boolean;
  /** Whether it will cover one more piece of this many bytes. */
  hasRoomFor(bytes: number, meter: Meter): boolean;
  /** Extends the hold. Returns what prevents the newest tokens from being delivered, if anything. */
  reach(meter: Meter): Promise<Shortage | undefined>;
}

interface RelayParts {
  readonly source: ChatResponse;
  readonly normaliser: OutputNormaliser;
  /** Undefined when the money for the whole response is already held. */
  readonly hold: OutputHold | undefined;
  readonly encoder: ResponseEncoder;
  /** How long the backend may send no event, in milliseconds. */
  readonly idleTimeoutMs: number;
}

/** Passes a response from a backend to its client, after money for it is held. */
export class OutputRelay {
  /** Set while the client must read before more can be sent. */
  private blocked: Promise<void> | undefined;

  constructor(private readonly parts: RelayParts) {}

  get backend(): string {
    return this.parts.source.backend;
  }

  get normaliser(): OutputNormaliser {
    return this.parts.normaliser;
  }

  get encoder(): ResponseEncoder {
    return this.parts.encoder;
  }

  /** Whether the client has received something that must be charged in any case. */
  get isBegun(): boolean {
    const { encoder, normaliser } = this.parts;
    return encoder.isLive && (normaliser.tool?.isShown ?? true);
  }

  /**
   * The internal tool call that the response ended with, unless the client or a lack of money ended it first.
   */
  calledBefore(ending: Ending): InternalToolCall | undefined {
    return ending.kind === 'done' || ending.kind === 'cut' ? this.parts.normaliser.tool?.call : undefined;
  }

  /**
   * Reads until the end, or until money, tokens or the client end the response, which also closes the backend
   * call. Throws the backend's error if nothing has reached the client; otherwise the response was cut.
   */
  deliver(): Ending | Promise<Ending> {
    try {
      const reading = traced('deliver', () => this.read(this.parts.source));
      if (!(reading instanceof Promise)) return this.endedBy(reading);
      return reading.then((end) => this.endedBy(end)).catch((error: unknown) => this.cutBy(error));
    } catch (error) {
      return this.cutBy(error);
    }
  }

  private endedBy(end: EarlyEnd | undefined): Ending {
    if (end) return { kind: end };
    if (!this.parts.normaliser.hasChoices) throw unusable('the response has no choices');
    return DONE;
  }

  private async cutBy(error: unknown): Promise<Ending> {
    const { encoder, normaliser } = this.parts;
    await this.blocked;
    const isRequested = normaliser.tool?.call !== undefined && isOfBackend(error);
    if (!encoder.isLive && !isRequested) throw error;
    if (encoder.isGone)
      return { kind: 'client_gone', ...(!isAbort(error) && { problem: Problem.from(error) }) };
    // Delivers what came before the error.
    await encoder.flush();
    return { kind: 'cut', problem: Problem.from(error) };
  }

  end(settled: ChargedOutput): Promise<void> | void {
    return this.parts.encoder.end(settled);
  }

  private get gone(): 'client_gone' | undefined {
    return this.parts.encoder.isGone ? 'client_gone' : undefined;
  }

  /** Returns the reason if the response ends before its backend does. */
  private read(source: ChatResponse): EarlyEnd | undefined | Promise<EarlyEnd | undefined> {
    const { normaliser, hold, encoder, idleTimeoutMs } = this.parts;
    const { repeating } = encoder;
    const onRepetition =
      normaliser.keepsTexts && repeating
        ? (repetition: Repetition) => this.passes(repetition, repeating)
        : undefined;
    const arrivals = source.arrivals({ idleTimeoutMs, onRepetition });
    if (Symbol.asyncIterator in arrivals) return this.readEvents(arrivals);
    return hold ? this.take(arrivals) : this.takeWhole(arrivals);
  }

  private async readEvents(arrivals: AsyncIterable<readonly string[]>): Promise<EarlyEnd | undefined> {
    const { normaliser } = this.parts;
    for await (const events of arrivals) {
      const end = await this.take(events);
      if (end) return end;
      if (normaliser.tool?.isOver === true) return undefined;
    }
    if (!this.blocked) return undefined;
    await this.blocked;
    return this.gone;
  }

  /**
   * Delivers an event that repeats an earlier one, as `take` does, but without a promise. Returns false, and
   * changes nothing, if anything else has to happen first.
   */
  private passes(repetition: Repetition, repeating: RepeatingEncoder): boolean {
    const { normaliser, hold, encoder } = this.parts;
    const { meter } = normaliser;
    if (this.blocked || encoder.isGone) return false;
    if (hold?.hasRoomFor(repetition.value.length, meter) === false) return false;
    this.repeat(repetition);
    meter.deliver();
    repeating.addRepeated(repetition.repeated, repetition.json);
    this.blocked = encoder.flush()?.then(() => (this.blocked = undefined));
    return true;
  }

  /** Counts a piece that repeats an earlier one. No piece is made for it. */
  private repeat({ value, repeated }: Repetition): readonly ChoicePiece[] {
    this.parts.normaliser.meter.add(value, repeated.kind, repeated.choice);
    return NO_PIECES;
  }

  /** Writes the pieces of an event, and learns what is written for it. */
  private add(event: string, pieces: readonly ChoicePiece[], repeating: RepeatingEncoder | undefined): void {
    const { source, encoder } = this.parts;
    encoder.add(pieces);
    if (repeating) source.repetitions?.learn(event, pieces, repeating.around);
  }

  /** Takes a response for all of which money is held, and which its client gets as one document. */
  private takeWhole(events: readonly string[]): EarlyEnd | undefined {
    const { source, normaliser, encoder } = this.parts;
    for (const event of events) {
      encoder.add(normaliser.read(source.read(event)));
      if (source.facts.received > BUFFERED_CHARACTERS) throw tooLarge();
    }
    normaliser.meter.deliver();
    return this.gone;
  }

  private async take(events: readonly string[]): Promise<EarlyEnd | undefined> {
    const { source, normaliser, hold, encoder } = this.parts;
    const { meter } = normaliser;
    if (this.blocked) {
      await this.blocked;
      if (encoder.isGone) return 'client_gone';
    }
    const repeating = normaliser.keepsTexts ? encoder.repeating : undefined;
    const repetitions = repeating && source.repetitions;
    let shortage: Shortage | undefined;
    for (const event of events) {
      const repetition = repetitions?.read(event);
      const pieces = repetition ? this.repeat(repetition) : normaliser.read(source.read(event));
      if (!encoder.isLive && source.facts.received > BUFFERED_CHARACTERS) throw tooLarge();
      // Not awaited if the hold already covers it: awaiting each piece would cost more than the piece itself.
      if (hold && !hold.isAhead(meter)) {
        shortage = await hold.reach(meter);
        if (shortage === 'out_of_money' && !encoder.isLive && meter.deliveredTokens === 0) throw hold.refusal;
        if (shortage) break;
      }
      meter.deliver();
      if (repetition) repeating?.addRepeated(repetition.repeated, repetition.json);
      else this.add(event, pieces, repeating);
    }
    const reading = encoder.flush();
    if (reading) await reading;
    return shortage ?? this.gone;
  }
}

/** Whether an error was caused by the backend. */
function isOfBackend(error: unknown): boolean {
  return error instanceof Problem && (error.code === 'INFERENCE_FAILED' || error.code === 'REQUEST_TIMEOUT');
}

/** A cost as clients see it. */
export function costView(cost: Balances): Cost {
  return { usd: usdNumber(cost.usdNano), diem: usdNumber(cost.diemNano) };
}

/** Whether something was aborted because its result was no longer needed. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && (/abort/i.test(error.name) || isAbort(error.cause));
}

function tooLarge(): Problem {
  return new Problem('INFERENCE_FAILED', { cause: new Error('the response is larger than its limit') });
}
