import {
  type Balances,
  type ChunkStream,
  type Completion,
  type Cost,
  Problem,
  type Usage,
  usdNumber,
} from '@svc/contracts';
import type { ProgressiveHold, Shortage } from '../holds/progressive-hold.js';
import { eventsOf } from './backend-events.js';
import type { AnswerNormaliser, ChoicePiece } from './normaliser.js';

/** How an answer ended. */
export type Ending =
  { readonly kind: 'done' | 'client_gone' | Shortage } | { readonly kind: 'cut'; readonly problem: Problem };

/** An answer that was charged. */
export interface Settled {
  readonly ending: Ending;
  readonly usage: Usage;
  readonly cost: Balances;
}

/** How an answer reaches its client: frame by frame as it comes, or as one document when all of it is there. */
export interface AnswerForm {
  /** Whether the client gets pieces as they come, so that what it got is charged whatever happens next. */
  readonly isLive: boolean;
  /** Whether the client has gone and needs no more. */
  readonly isGone: boolean;
  add(pieces: readonly ChoicePiece[]): void;
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

  /**
   * Reads to the end, or to where money, tokens or the client end it: whoever stops reading lets the backend go. Throws
   * what the backend refuses with where nothing has reached the client; else the answer was cut.
   */
  async deliver(): Promise<Ending> {
    const { source, form } = this.parts;
    try {
      for await (const texts of 'body' in source ? [[source.body]] : eventsOf(source)) {
        const kind = await this.take(texts);
        if (kind) return { kind };
      }
      return { kind: 'done' };
    } catch (error) {
      if (!form.isLive) throw error;
      if (form.isGone) return { kind: 'client_gone' };
      // What came before it is the client's.
      await form.flush();
      return { kind: 'cut', problem: Problem.from(error) };
    }
  }

  end(settled: Settled): Promise<void> | void {
    return this.parts.form.end(settled);
  }

  /** What ends the answer, if anything does. */
  private async take(texts: readonly string[]): Promise<'client_gone' | Shortage | undefined> {
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

/** A cost as clients see it. */
export function costView(cost: Balances): Cost {
  return { usd: usdNumber(cost.usdNano), diem: usdNumber(cost.diemNano) };
}

function tooLarge(): Problem {
  return new Problem('INFERENCE_FAILED', { cause: new Error('the answer is larger than its limit') });
}
