import { type AroundText, type RepeatedPiece, fieldsOf } from '@svc/contracts/inference';
import type { Problem } from '@svc/contracts/problems';
import {
  type ResponseEncoder,
  type ChargedOutput,
  type RepeatingEncoder,
  type CompletionHead,
  type ChoicePiece,
  type FinishReason,
  DONE_FRAME,
  streamError,
  type OutputNormaliser,
} from '@svc/text/output';
import type { ResponseWriter } from '@svc/paid/http';
import { EventWriter } from './event-writer.js';
import { type TextKind, logprobsIn } from './output-items.js';
import { type ResponseHead, type ResponseOptions, endOf, statusOf } from './response-head.js';
import { StreamedItems } from './streamed-items.js';

/**
 * Writes a response as events: its beginning, its items as they arrive, and at the end the whole of it with
 * usage and cost.
 */
export class StreamedResponse implements ResponseEncoder, RepeatingEncoder {
  readonly isLive = true;
  private readonly events = new EventWriter();
  private readonly items: StreamedItems;
  private reason: FinishReason | null = null;
  /** Whether the results of the current search have been written. */
  private isSearchShown = false;

  constructor(
    private readonly writer: Pick<ResponseWriter, 'begin' | 'write' | 'end' | 'isGone'>,
    private normaliser: OutputNormaliser,
    private about: CompletionHead,
    private readonly parts: ResponseOptions & { readonly head: ResponseHead },
  ) {
    this.items = new StreamedItems(this.events, about.id, parts.tools);
    const response = parts.head.with('in_progress', []);
    this.events.add('response.created', { response });
    this.events.add('response.in_progress', { response });
    writer.begin();
  }

  get isGone(): boolean {
    return this.writer.isGone;
  }

  /** An event that adds to a text has nothing else of its piece. */
  readonly around = (): AroundText => ALONE;

  get repeating(): RepeatingEncoder {
    return this;
  }

  continueWith(normaliser: OutputNormaliser, about: CompletionHead): void {
    this.normaliser = normaliser;
    this.about = about;
    this.isSearchShown = false;
  }

  add(pieces: readonly ChoicePiece[]): void {
    this.showSearch();
    for (const piece of pieces) if (piece.index === 0) this.addPiece(piece);
  }

  addRepeated({ kind }: RepeatedPiece, textJson: string): void {
    this.showSearch();
    this.items.addText(kind === 'content' ? kind : this.reasoningKind, textJson);
  }

  flush(): Promise<void> | undefined {
    const frames = this.events.take();
    return frames === '' ? undefined : this.writer.write(frames);
  }

  end(settled: ChargedOutput): void {
    const { ending } = settled;
    const end = endOf(settled, this.about, this.normaliser.facts.citedUrls);
    if (ending.kind === 'cut') {
      this.writer.end(this.failedFrames(ending.problem, end));
      return;
    }
    this.add(this.normaliser.finish(ending.kind === 'done' ? 'stop' : 'length'));
    const reason = this.reason ?? 'length';
    const status = statusOf(reason);
    const output = this.items.end(status);
    this.events.add(`response.${status}`, { response: this.parts.head.ended(reason, output, end) });
    this.writer.end(this.events.take() + DONE_FRAME);
  }

  /** Ends the response with an error, after what was delivered. */
  failedFrames(problem: Problem, end: object = {}): string {
    return failureFrames(this.events, this.parts.head, {
      problem,
      output: this.items.end('incomplete'),
      end,
    });
  }

  private get reasoningKind(): TextKind {
    return this.parts.summarises ? 'summary' : 'reasoning';
  }

  private addPiece({ delta, logprobs, finish_reason: reason }: ChoicePiece): void {
    const { reasoning_content: thought, content, refusal, tool_calls: calls } = delta;
    this.items.addSignatures(this.reasoningKind, delta);
    this.addText(this.reasoningKind, thought);
    if (typeof content === 'string' && content !== '')
      this.items.addText('content', jsonOf(content), logprobsIn(logprobs));
    this.addText('refusal', refusal);
    for (const fragment of fieldsOf(calls)) this.items.addCall(fragment);
    this.reason = reason ?? this.reason;
  }

  private addText(kind: TextKind, text: unknown): void {
    if (typeof text === 'string' && text !== '') this.items.addText(kind, jsonOf(text));
  }

  /** Writes a search before the first output that uses its results, since it is paid for from then on. */
  private showSearch(): void {
    if (this.isSearchShown || this.normaliser.meter.pieces === 0) return;
    this.isSearchShown = true;
    this.items.addSearch(this.about.parameters);
    if (this.about.documents) this.items.addWholeCall({ ...this.about.documents });
  }
}

/** The events of a response that fails before its model has said anything. */
export function failedFrames(head: ResponseHead, problem: Problem): string {
  const events = new EventWriter();
  events.add('response.created', { response: head.with('in_progress', []) });
  return failureFrames(events, head, { problem, output: [], end: {} });
}

interface Failure {
  readonly problem: Problem;
  /** What was delivered. */
  readonly output: readonly object[];
  /** Usage and cost of what was delivered. */
  readonly end: object;
}

function failureFrames(events: EventWriter, head: ResponseHead, { problem, output, end }: Failure): string {
  const { code, message } = streamError(problem);
  events.add('response.failed', {
    response: head.with('failed', output, { ...end, error: { code, message } }),
  });
  return events.take() + DONE_FRAME;
}

const ALONE: AroundText = ['', ''];

/** A text as the content of a JSON string. */
const jsonOf = (text: string): string => JSON.stringify(text).slice(1, -1);
