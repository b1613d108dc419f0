import { type ResponseWriter } from '@svc/paid/http';
import { type Fields, type RepeatedPiece, fieldsOf } from '@svc/contracts/inference';
import type { DocumentsCall } from '../web/documents-call.js';
import { type ResponseEncoder, type ChargedOutput, type RepeatingEncoder, costView } from './output-relay.js';
import { type CompletionHead, type ChoiceShape, echoOf } from './completion-head.js';
import { DONE_FRAME, frame, problemFrames } from './event-stream.js';
import { isEmptyDelta } from './message-texts.js';
import type { ChoicePiece } from './assembled-choice.js';
import type { OutputNormaliser } from './normaliser.js';
import { usageView } from './usage.js';
import { aroundText } from './around-text.js';

/**
 * Writes a response as server-sent events: one id, one creation time, the catalogue's model id, a role in
 * each choice's first delta only, usage and cost in the last chunk. Clients that loop over `choices[0]` fail
 * on a chunk without choices, so one is sent only on request.
 */
export class StreamEncoder implements ResponseEncoder, RepeatingEncoder {
  readonly isLive = true;
  private readonly head: Fields;
  /** The text of a frame up to its choices. */
  private readonly frameStart: string;
  /** Choices for which the client has received something. */
  private readonly begun = new Set<number>();
  private frames = '';
  /** The ids of the prompt's tokens come once, if they were requested. */
  private isPromptSent = false;
  /** Choices that may finish the response. They are held back, since usage may have to be sent with them. */
  private finishing: readonly ChoicePiece[] | undefined;
  /**
   * The first frame with web results. It is held back until there is output, since only then it is paid for.
   */
  private results = '';
  /** Choices that have received the web results as a tool call. */
  private readonly documented = new Set<number>();

  constructor(
    private readonly writer: Pick<ResponseWriter, 'begin' | 'write' | 'end' | 'isGone'>,
    private normaliser: OutputNormaliser,
    private about: CompletionHead,
    /** How choices are written, unless as those of a chat completion. */
    private readonly shape?: ChoiceShape,
  ) {
    const { id, model, serviceTier: service_tier } = about;
    const object = shape?.object ?? 'chat.completion.chunk';
    this.head = { id, object, created: Math.floor(Date.now() / 1_000), model };
    if (service_tier !== undefined) this.head['service_tier'] = service_tier;
    this.frameStart = `data: ${JSON.stringify(this.head).slice(0, -1)},"choices":`;
    this.keepResults();
    writer.begin();
  }

  continueWith(normaliser: OutputNormaliser, about: CompletionHead): void {
    this.normaliser = normaliser;
    this.about = about;
    this.keepResults();
  }

  get isGone(): boolean {
    return this.writer.isGone;
  }

  add(pieces: readonly ChoicePiece[]): void {
    if (this.about.documents) for (const piece of pieces) this.addDocuments(piece, this.about.documents);
    const choices = pieces.filter((piece) => this.place(piece));
    if (choices.length === 0) return;
    this.addFinishing();
    const finishes = choices.some(({ finish_reason: reason }) => reason !== null);
    if (finishes && !this.about.usageApart) this.finishing = choices;
    else this.frames += this.choicesFrame(choices);
  }

  readonly around = aroundText;

  get repeating(): RepeatingEncoder | undefined {
    return this.about.documents || this.shape ? undefined : this;
  }

  addRepeated({ written: [before, after] }: RepeatedPiece, textJson: string): void {
    this.addFinishing();
    this.frames += `${this.frameStart}${before}${textJson}${after}}\n\n`;
  }

  flush(): Promise<void> | undefined {
    if (this.results !== '' && this.normaliser.meter.pieces === 0) return undefined;
    const frames = this.results + this.frames;
    if (frames === '') return undefined;
    this.results = '';
    this.frames = '';
    return this.writer.write(frames);
  }

  end({ ending, usage, cost, hasOutput }: ChargedOutput): void {
    if (ending.kind === 'cut') {
      this.addFinishing();
      this.writer.end(this.frames + problemFrames(ending.problem));
      return;
    }
    // Each choice ends in a chunk of its own.
    for (const piece of this.normaliser.finish(ending.kind === 'done' ? 'stop' : 'length')) this.add([piece]);
    const results = hasOutput ? this.results : '';
    const choices = this.shaped(this.finishing ?? []);
    const echo = echoOf(this.about, hasOutput, this.normaliser.facts.citedUrls);
    const last = { usage: usageView(usage), cost: costView(cost), svc_parameters: echo };
    this.writer.end(results + this.frames + frame({ ...this.head, choices, ...last }) + DONE_FRAME);
  }

  private keepResults(): void {
    if (this.about.resultsFirst !== true) return;
    const { web_search_citations: found } = this.about.parameters;
    this.results = frame({ ...this.head, choices: [], svc_parameters: { web_search_citations: found } });
  }

  /** Sends the web results as the first tool call of a choice, in a separate frame before its first text. */
  private addDocuments({ index, delta }: ChoicePiece, documents: DocumentsCall): void {
    const { tool_calls: calls } = delta;
    // The model's own calls follow it.
    if (Array.isArray(calls))
      delta['tool_calls'] = fieldsOf(calls).map((call) => ({ ...call, index: Number(call['index']) + 1 }));
    if (this.documented.has(index) || isEmptyDelta({ ...delta, role: undefined })) return;
    this.documented.add(index);
    const piece = { index, delta: { tool_calls: [{ index: 0, ...documents }] }, ...GOES_ON };
    if (this.place(piece)) this.frames += this.choicesFrame([piece]);
  }

  /** Releases the held-back choices, since something follows them. */
  private addFinishing(): void {
    if (this.finishing) this.frames += this.choicesFrame(this.finishing);
    this.finishing = undefined;
  }

  private choicesFrame(choices: readonly ChoicePiece[]): string {
    const { promptTokenIds: ids } = this.normaliser.facts;
    const more = ids && !this.isPromptSent ? `,"prompt_token_ids":${JSON.stringify(ids)}` : '';
    this.isPromptSent = true;
    return `${this.frameStart}${JSON.stringify(this.shaped(choices))}${more}}\n\n`;
  }

  private shaped(choices: readonly ChoicePiece[]): readonly object[] {
    const { shape } = this;
    return shape ? choices.map((piece) => shape.piece(piece)) : choices;
  }

  /** Whether there is anything to send. Changes the delta of a piece: only the first has a role. */
  private place({ index, delta, finish_reason: reason }: ChoicePiece): boolean {
    if (this.begun.has(index)) {
      if (delta['role'] !== undefined) delta['role'] = undefined;
      return reason !== null || !this.normaliser.strips || !isEmptyDelta(delta);
    }
    this.begun.add(index);
    if (isEmptyDelta({ ...delta, role: undefined })) delta['content'] = '';
    delta['role'] = 'assistant';
    return true;
  }
}

const GOES_ON = { logprobs: null, finish_reason: null, stop_reason: undefined };
