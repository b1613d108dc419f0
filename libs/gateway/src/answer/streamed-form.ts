import type { SvcParametersEcho } from '@svc/contracts';
import type { AnswerWriter } from '../http/answer-writer.js';
import type { Fields } from '../json/backend-json.js';
import { type AnswerForm, type Settled, costView } from './answer.js';
import { DONE_FRAME, frame, problemFrames } from './event-stream.js';
import type { AnswerNormaliser, ChoicePiece } from './normaliser.js';
import { usageView } from './usage.js';

/** What an answer says of itself beside its choices. */
export interface AnswerHead {
  readonly id: string;
  readonly model: string;
  readonly parameters: SvcParametersEcho;
  /** Whether usage and cost of a stream come in a chunk of their own. */
  readonly usageApart: boolean;
}

/**
 * An answer as server-sent events: one id, one creation time, the catalogue's model id, a role in each choice's first
 * delta and in no other, usage and cost in the last chunk. Loops over `choices[0]` break on a chunk without choices:
 * one is only sent to a client that asked for it.
 */
export class StreamedForm implements AnswerForm {
  readonly isLive = true;
  private readonly head: Fields;
  /** The text of a frame up to its choices. */
  private readonly frameStart: string;
  /** Choices of which the client has seen something. */
  private readonly begun = new Set<number>();
  private frames = '';
  /** Choices that finish an answer, as far as is known: kept back, since usage may have to go with them. */
  private finishing: readonly ChoicePiece[] | undefined;

  constructor(
    private readonly writer: Pick<AnswerWriter, 'begin' | 'write' | 'end' | 'isGone'>,
    private readonly normaliser: AnswerNormaliser,
    private readonly about: AnswerHead,
  ) {
    const { id, model } = about;
    this.head = { id, object: 'chat.completion.chunk', created: Math.floor(Date.now() / 1_000), model };
    this.frameStart = `data: ${JSON.stringify(this.head).slice(0, -1)},"choices":`;
    writer.begin();
  }

  get isGone(): boolean {
    return this.writer.isGone;
  }

  add(pieces: readonly ChoicePiece[]): void {
    const choices = pieces.filter((piece) => this.place(piece));
    if (choices.length === 0) return;
    this.addFinishing();
    const finishes = choices.some(({ finish_reason: reason }) => reason !== null);
    if (finishes && !this.about.usageApart) this.finishing = choices;
    else this.frames += this.choicesFrame(choices);
  }

  flush(): Promise<void> | undefined {
    const { frames } = this;
    if (frames === '') return undefined;
    this.frames = '';
    return this.writer.write(frames);
  }

  end({ ending, usage, cost }: Settled): void {
    if (ending.kind === 'cut') {
      this.addFinishing();
      this.writer.end(this.frames + problemFrames(ending.problem));
      return;
    }
    // Each choice ends in a chunk of its own.
    for (const piece of this.normaliser.finish(ending.kind === 'done' ? 'stop' : 'length')) this.add([piece]);
    const { parameters } = this.about;
    const choices = this.finishing ?? [];
    const last = { usage: usageView(usage), cost: costView(cost), svc_parameters: parameters };
    this.writer.end(this.frames + frame({ ...this.head, choices, ...last }) + DONE_FRAME);
  }

  /** Lets out what was kept back: something follows it. */
  private addFinishing(): void {
    if (this.finishing) this.frames += this.choicesFrame(this.finishing);
    this.finishing = undefined;
  }

  private choicesFrame(choices: readonly ChoicePiece[]): string {
    return `${this.frameStart}${JSON.stringify(choices)}}\n\n`;
  }

  /** Whether there is anything to say. Changes the delta of a piece: a role stands in the first and in no other. */
  private place({ index, delta, finish_reason: reason }: ChoicePiece): boolean {
    if (this.begun.has(index)) {
      if (delta['role'] !== undefined) delta['role'] = undefined;
      return reason !== null || !this.normaliser.strips || !saysNothing(delta);
    }
    this.begun.add(index);
    if (saysNothing({ ...delta, role: undefined })) delta['content'] = '';
    delta['role'] = 'assistant';
    return true;
  }
}

function saysNothing(delta: Fields): boolean {
  return Object.values(delta).every((value) => value === undefined || value === null || value === '');
}
