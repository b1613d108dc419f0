import {
  type Balances,
  type ChunkStream,
  type Completion,
  type Cost,
  Problem,
  type Usage,
  usdNumber,
} from '@svc/contracts';
import { traced } from '@svc/telemetry';
import { unusable } from '../json/backend-json.js';
import type { ProgressiveHold, Shortage } from '../paid/progressive-hold.js';
import type { AnswerHead } from './answer-head.js';
import { eventsOf } from './backend-events.js';
import type { HiddenCall } from './hidden-tool.js';
import type { AnswerNormaliser, ChoicePiece } from './normaliser.js';

/** What ends an answer before its backend has. */
type EarlyEnd = 'client_gone' | Shortage;

/** How an answer ended. */
export type Ending =
  | { readonly kind: 'done' | Shortage }
  /** With a problem where something else went wrong too: nobody is there to be told. */
  | { readonly kind: 'client_gone'; readonly problem?: Problem }
  | { readonly kind: 'cut'; readonly problem: Problem };

/** An answer that was charged. */
export interface Settled {
  readonly ending: Ending;
  readonly usage: Usage;
  readonly cost: Balances;
  /** Whether what its backend was asked last has come to anything. */
  readonly hasOutput: boolean;
}

/** How an answer reaches its client: frame by frame as it comes, or as one document when all of it is there. */
export interface AnswerForm {
  /** Whether the client gets pieces as they come, so that what it got is charged whatever happens next. */
  readonly isLive: boolean;
  /** Whether the client has gone and needs no more. */
  readonly isGone: boolean;
  add(pieces: readonly ChoicePiece[]): void;
  /** Takes what follows from another ask of a backend. */
  goOn(normaliser: AnswerNormaliser, about: AnswerHead): void;
  /** Lets the client have what was added. A promise where it has to read on first. */
  flush(): Promise<void> | undefined;
  /** The end of the answer. Whatever was added is on its way before it. */
  end(settled: Settled): Promise<void> | void;
}

/** What a backend sends. */
export type BackendAnswer = Completion | ChunkStream;

/** Characters that a backend may send for an answer that its client gets in one piece. */
const GATHERED_CHARACTERS = 67_108_864;

interface AnswerParts {
  readonly source: BackendAnswer;
  readonly normaliser: AnswerNormaliser;
  /** Without one, money for all of the answer is held. */
  readonly hold: ProgressiveHold | undefined;
  readonly form: AnswerForm;
  /** How long the backend may send no event. */
  readonly silenceMs: number;
}

/** An answer on its way from a backend to its client, held for before it is let out. */
export class Answer {
  constructor(private readonly parts: AnswerParts) {}

  get backend(): string {
    return this.parts.source.backend;
  }

  get normaliser(): AnswerNormaliser {
    return this.parts.normaliser;
  }

  get form(): AnswerForm {
    return this.parts.form;
  }

  /** Whether its client has got something that has to be charged whatever follows. */
  get isBegun(): boolean {
    const { form, normaliser } = this.parts;
    return form.isLive && (normaliser.tool?.isShown ?? true);
  }

  /** The call of the hidden tool that it ended in, where one did and neither the client nor money has ended it before. */
  calledBefore(ending: Ending): HiddenCall | undefined {
    return ending.kind === 'done' || ending.kind === 'cut' ? this.parts.normaliser.tool?.call : undefined;
  }

  /**
   * Reads to the end, or to where money, tokens or the client end it: whoever stops reading lets the backend go. Throws
   * what the backend refuses with where nothing has reached the client; else the answer was cut.
   */
  async deliver(): Promise<Ending> {
    const { source, form } = this.parts;
    try {
      const shortage = await traced('deliver', () => this.read(source));
      if (shortage) return { kind: shortage };
      if (!this.parts.normaliser.hasChoices) throw unusable('the answer has no choices');
      return { kind: 'done' };
    } catch (error) {
      const isAsked = this.parts.normaliser.tool?.call !== undefined && isOfBackend(error);
      if (!form.isLive && !isAsked) throw error;
      if (form.isGone)
        return { kind: 'client_gone', ...(!isAbort(error) && { problem: Problem.from(error) }) };
      // What came before it is the client's.
      await form.flush();
      return { kind: 'cut', problem: Problem.from(error) };
    }
  }

  end(settled: Settled): Promise<void> | void {
    return this.parts.form.end(settled);
  }

  /** What ends the answer before its backend does, if anything. */
  private async read(source: BackendAnswer): Promise<EarlyEnd | undefined> {
    if ('body' in source) return this.take([source.body]);
    for await (const texts of eventsOf(source, this.parts.silenceMs)) {
      const end = await this.take(texts);
      if (end) return end;
      if (this.parts.normaliser.tool?.isOver === true) return undefined;
    }
    return undefined;
  }

  private async take(texts: readonly string[]): Promise<EarlyEnd | undefined> {
    const { normaliser, hold, form } = this.parts;
    const { meter } = normaliser;
    let shortage: Shortage | undefined;
    for (const text of texts) {
      const pieces = normaliser.read(text);
      if (!form.isLive && normaliser.received > GATHERED_CHARACTERS) throw tooLarge();
      // Not awaited where it is held for already: a wait for each piece would cost more than the piece.
      if (hold && !hold.isAhead(meter)) {
        shortage = await hold.reach(meter);
        if (shortage === 'out_of_money' && !form.isLive && meter.deliveredTokens === 0) throw hold.refusal;
        if (shortage) break;
      }
      meter.deliver();
      form.add(pieces);
    }
    const reading = form.flush();
    if (reading) await reading;
    return shortage ?? (form.isGone ? 'client_gone' : undefined);
  }
}

/** Whether it is a backend that an answer broke off at. */
function isOfBackend(error: unknown): boolean {
  return error instanceof Problem && (error.code === 'INFERENCE_FAILED' || error.code === 'REQUEST_TIMEOUT');
}

/** A cost as clients see it. */
export function costView(cost: Balances): Cost {
  return { usd: usdNumber(cost.usdNano), diem: usdNumber(cost.diemNano) };
}

/** Whether something ended because nobody waited for it any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && (/abort/i.test(error.name) || isAbort(error.cause));
}

function tooLarge(): Problem {
  return new Problem('INFERENCE_FAILED', { cause: new Error('the answer is larger than its limit') });
}
