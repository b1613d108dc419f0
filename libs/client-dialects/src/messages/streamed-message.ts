import { fieldsOf } from '@svc/contracts/inference';
import { NO_USAGE } from '@svc/contracts/messages';
import {
  type ResponseEncoder,
  type ChargedOutput,
  costView,
  type CompletionHead,
  echoOf,
  type ChoicePiece,
  type FinishReason,
  type OutputNormaliser,
} from '@svc/text/output';
import type { ResponseWriter } from '@svc/paid/http';
import { BlockEvents, namedFrame } from './block-events.js';
import {
  type MessageShape,
  NOT_STOPPED,
  emptyMessage,
  messageUsage,
  searchBlocks,
  stopOf,
  usageCounts,
} from './message-head.js';
import { OriginalEvents, ownEnd } from './original-message.js';
import { StateCollector } from './reasoning-state.js';

export const PING_FRAME = namedFrame({ type: 'ping' });

interface StreamParts {
  readonly writer: Pick<ResponseWriter, 'begin' | 'write' | 'end' | 'isGone'>;
  readonly shape: MessageShape;
  readonly problemFrames: (problem: Extract<ChargedOutput['ending'], { kind: 'cut' }>['problem']) => string;
}

/** Writes a response as the events of a message. */
export class StreamedMessage implements ResponseEncoder {
  readonly isLive = true;
  readonly repeating = undefined;
  private readonly state = new StateCollector();
  private readonly blocks = new BlockEvents(() => this.state.take());
  private frames: string;
  private finished: FinishReason | null = null;
  /** The web results that the client has not received. They are held back until output pays for them. */
  private found: CompletionHead | undefined;
  private searches = 0;
  private readonly start: string;
  /** The events of a provider that responds to the request as its client wrote it. */
  private readonly original: OriginalEvents | undefined;

  constructor(
    private readonly parts: StreamParts,
    private normaliser: OutputNormaliser,
    private about: CompletionHead,
  ) {
    const usage = messageUsage({ ...NO_USAGE, promptTokens: about.promptTokens }, 0);
    const message = { ...emptyMessage(about), ...NOT_STOPPED, usage };
    this.frames = '';
    this.start = namedFrame({ type: 'message_start', message }) + PING_FRAME;
    if (normaliser.facts.isOriginal === true) this.original = new OriginalEvents(about);
    else this.begin();
    this.keepFound();
    parts.writer.begin();
  }

  continueWith(normaliser: OutputNormaliser, about: CompletionHead): void {
    this.normaliser = normaliser;
    this.about = about;
    this.keepFound();
  }

  get isGone(): boolean {
    return this.parts.writer.isGone;
  }

  add(pieces: readonly ChoicePiece[]): void {
    for (const piece of pieces) {
      if (piece.index !== 0) continue;
      if (!this.original) this.addPiece(piece);
      else if (piece.original !== undefined) this.frames += this.original.frameOf(piece.original);
    }
  }

  /** The beginning of a message that is made here. */
  private begin(): void {
    this.frames += this.start;
  }

  flush(): Promise<void> | undefined {
    const frames = this.frames + this.blocks.take();
    this.frames = '';
    return frames === '' ? undefined : this.parts.writer.write(frames);
  }

  end({ ending, usage, cost, hasOutput }: ChargedOutput): void {
    const { writer, shape, problemFrames } = this.parts;
    if (ending.kind === 'cut') {
      writer.end(this.frames + this.blocks.take() + problemFrames(ending.problem));
      return;
    }
    if (this.original) {
      if (!this.original.isBegun) this.begin();
      writer.end(this.frames + this.original.end(ownEnd({ usage, cost, hasOutput }, this.about)));
      return;
    }
    this.add(this.normaliser.finish(ending.kind === 'done' ? 'stop' : 'length'));
    if (hasOutput) this.showFound();
    this.blocks.close();
    const rest = this.state.take();
    if (rest !== undefined) this.blocks.whole({ type: 'redacted_thinking', data: rest });
    const { stoppedBy } = this.normaliser.facts;
    const last = {
      type: 'message_delta',
      delta: stopOf(
        this.finished,
        shape.stops.find((stop) => stop === stoppedBy),
      ),
      usage: usageCounts(usage, this.searches),
      cost: costView(cost),
      svc_parameters: echoOf(this.about, hasOutput, this.normaliser.facts.citedUrls),
    };
    writer.end(this.frames + this.blocks.take() + namedFrame(last) + STOP_FRAME);
  }

  private addPiece(piece: ChoicePiece): void {
    const { content, reasoning_content: thinking, refusal, tool_calls: calls } = piece.delta;
    this.state.add(piece);
    if (this.found && this.normaliser.meter.pieces > 0) this.showFound();
    if (typeof thinking === 'string' && this.parts.shape.thinks) this.blocks.thinking(thinking);
    if (typeof content === 'string') this.blocks.text(content);
    if (typeof refusal === 'string') this.blocks.text(refusal);
    if (calls) for (const fragment of fieldsOf(calls)) this.blocks.call(fragment);
    this.finished ??= piece.finish_reason;
  }

  private keepFound(): void {
    if (this.parts.shape.searches) this.found = this.about;
  }

  private showFound(): void {
    const { found } = this;
    this.found = undefined;
    const blocks = found ? searchBlocks(found.id, found.parameters) : [];
    if (blocks.length > 0) this.searches = 1;
    for (const block of blocks) this.blocks.whole(block);
  }
}

const STOP_FRAME = namedFrame({ type: 'message_stop' });
