import { Readable } from 'node:stream';
import { type Balances, usdNumber } from '@svc/contracts/money';
import type { ChunkStream, Completion } from '@svc/contracts/inference';
import type { Cost } from '@svc/api/chat';
import { Problem } from '@svc/contracts/problems';
import type { Usage } from '@svc/contracts/messages';
import { traced } from '@svc/telemetry';
import { unusable } from '@svc/paid/json';
import type { Meter } from '../tokens/meter.js';
import type { CompletionHead } from './completion-head.js';
import { eventsOf, isDocument } from './backend-events.js';
import type { InternalToolCall } from './internal-tool.js';
import type { ChoicePiece } from './assembled-choice.js';
import type { OutputNormaliser } from './normaliser.js';
import { ChunkRepetition, type RepeatedChunk } from './repeated-chunk.js';

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

/** Writes a chunk that repeats an earlier one apart from its text. */
export interface RepeatingEncoder {
  addRepeated(chunk: RepeatedChunk, textJson: string): void;
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

/** The response of a backend, whole or streamed. */
export type BackendOutput = Completion | ChunkStream;

/** What an event has around its data: `data: ` and an empty line. */
const EVENT_FRAME_BYTES = 8;

/** The most characters that a backend may send for a response that is not streamed to the client. */
const BUFFERED_CHARACTERS = 67_108_864;

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
  readonly source: BackendOutput;
  readonly normaliser: OutputNormaliser;
  /** Undefined when the money for the whole response is already held. */
  readonly hold: OutputHold | undefined;
  readonly encoder: ResponseEncoder;
  /** How long the backend may send no event, in milliseconds. */
  readonly idleTimeoutMs: number;
}

/** Passes a response from a backend to its client, after money for it is held. */
export class OutputRelay {
  private readonly repetition = new ChunkRepetition();
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
  async deliver(): Promise<Ending> {
    const { source, encoder } = this.parts;
    try {
      const shortage = await traced('deliver', () => this.read(source));
      if (shortage) return { kind: shortage };
      if (!this.parts.normaliser.hasChoices) throw unusable('the response has no choices');
      return { kind: 'done' };
    } catch (error) {
      await this.blocked;
      const isRequested = this.parts.normaliser.tool?.call !== undefined && isOfBackend(error);
      if (!encoder.isLive && !isRequested) throw error;
      if (encoder.isGone)
        return { kind: 'client_gone', ...(!isAbort(error) && { problem: Problem.from(error) }) };
      // Delivers what came before the error.
      await encoder.flush();
      return { kind: 'cut', problem: Problem.from(error) };
    }
  }

  end(settled: ChargedOutput): Promise<void> | void {
    return this.parts.encoder.end(settled);
  }

  /** Returns the reason if the response ends before its backend does. */
  private async read(source: BackendOutput): Promise<EarlyEnd | undefined> {
    if ('body' in source && isDocument(source.body)) return this.take([source.body]);
    const { normaliser, encoder, idleTimeoutMs } = this.parts;
    // Some backends stream whatever they are asked for.
    const streamed = 'body' in source ? { bytes: Readable.from([[Buffer.from(source.body)]]) } : source;
    const events = eventsOf(streamed, { idleTimeoutMs, isComplete: () => normaliser.isFinished });
    const { repeating } = encoder;
    if (normaliser.keepsTexts && repeating) events.offerTo((part) => this.passes(part, repeating));
    for await (const texts of events) {
      const end = await this.take(texts);
      if (end) return end;
      if (normaliser.tool?.isOver === true) return undefined;
    }
    if (!this.blocked) return undefined;
    await this.blocked;
    return encoder.isGone ? 'client_gone' : undefined;
  }

  /**
   * Delivers an event that repeats an earlier one, as `take` does, but without a promise. Returns false, and
   * changes nothing, if anything else has to happen first.
   */
  private passes(part: Buffer, repeating: RepeatingEncoder): boolean {
    const { normaliser, hold, encoder } = this.parts;
    const { meter } = normaliser;
    if (this.blocked || encoder.isGone) return false;
    const repetition = this.repetition.readEvent(part);
    if (!repetition || hold?.hasRoomFor(repetition.value.length, meter) === false) return false;
    normaliser.repeat(part.length - EVENT_FRAME_BYTES, repetition);
    meter.deliver();
    repeating.addRepeated(repetition.repeated, repetition.json);
    this.blocked = encoder.flush()?.then(() => (this.blocked = undefined));
    return true;
  }

  private async take(texts: readonly string[]): Promise<EarlyEnd | undefined> {
    const { normaliser, hold, encoder } = this.parts;
    const { meter } = normaliser;
    if (this.blocked) {
      await this.blocked;
      if (encoder.isGone) return 'client_gone';
    }
    const repeating = normaliser.keepsTexts ? encoder.repeating : undefined;
    let shortage: Shortage | undefined;
    for (const text of texts) {
      const repetition = repeating && this.repetition.read(text);
      const pieces = repetition ? normaliser.repeat(text.length, repetition) : normaliser.read(text);
      if (!encoder.isLive && normaliser.received > BUFFERED_CHARACTERS) throw tooLarge();
      // Not awaited if the hold already covers it: awaiting each piece would cost more than the piece itself.
      if (hold && !hold.isAhead(meter)) {
        shortage = await hold.reach(meter);
        if (shortage === 'out_of_money' && !encoder.isLive && meter.deliveredTokens === 0) throw hold.refusal;
        if (shortage) break;
      }
      meter.deliver();
      if (repetition) {
        repeating.addRepeated(repetition.repeated, repetition.json);
        continue;
      }
      encoder.add(pieces);
      if (repeating) this.repetition.learn(text, pieces);
    }
    const reading = encoder.flush();
    if (reading) await reading;
    return shortage ?? (encoder.isGone ? 'client_gone' : undefined);
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
