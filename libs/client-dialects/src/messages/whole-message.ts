import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';
import {
  type ResponseEncoder,
  type ChargedOutput,
  costView,
  type CompletionHead,
  echoOf,
  AssembledChoice,
  type ChoicePiece,
  type OutputNormaliser,
} from '@svc/text/output';
import type { ResponseWriter } from '@svc/paid/http';
import {
  type MessageShape,
  emptyMessage,
  inputOf,
  messageUsage,
  searchBlocks,
  stopOf,
  toolUse,
} from './message-head.js';
import { OriginalMessage, ownEnd } from './original-message.js';
import { StateCollector } from './reasoning-state.js';

interface WholeParts {
  readonly writer: Pick<ResponseWriter, 'send' | 'isGone'>;
  readonly shape: MessageShape;
}

/** Writes a response as one message. */
export class WholeMessage implements ResponseEncoder {
  readonly isLive = false;
  readonly repeating = undefined;
  private readonly choice = new AssembledChoice(0);
  private readonly state = new StateCollector();
  /** The message of a provider that responds to the request as its client wrote it. */
  private readonly original: OriginalMessage | undefined;

  constructor(
    private readonly parts: WholeParts,
    private normaliser: OutputNormaliser,
    private about: CompletionHead,
  ) {
    if (normaliser.facts.isOriginal === true) this.original = new OriginalMessage();
  }

  continueWith(normaliser: OutputNormaliser, about: CompletionHead): void {
    this.normaliser = normaliser;
    this.about = about;
  }

  get isGone(): boolean {
    return this.parts.writer.isGone;
  }

  add(pieces: readonly ChoicePiece[]): void {
    for (const piece of pieces) {
      if (piece.index !== 0) continue;
      if (this.original) {
        if (piece.original !== undefined) this.original.add(piece.original);
        continue;
      }
      this.state.add(piece);
      this.choice.add(piece);
    }
  }

  flush(): undefined {
    return undefined;
  }

  end({ ending, usage, cost, hasOutput }: ChargedOutput): Promise<void> | undefined {
    const { writer, shape } = this.parts;
    if (this.original)
      return writer.send(this.original.whole(this.about, ownEnd({ usage, cost, hasOutput }, this.about)));
    this.add(this.normaliser.finish(ending.kind === 'done' ? 'stop' : 'length'));
    const { message, finish_reason: finished } = this.choice.whole();
    const { id, parameters } = this.about;
    const found = shape.searches && hasOutput ? searchBlocks(id, parameters) : [];
    const { stoppedBy } = this.normaliser.facts;
    const body = {
      ...emptyMessage(this.about),
      content: this.blocksOf(message, found),
      ...stopOf(
        finished,
        shape.stops.find((stop) => stop === stoppedBy),
      ),
      usage: messageUsage(usage, found.length > 0 ? 1 : 0),
      cost: costView(cost),
      svc_parameters: echoOf(this.about, hasOutput, this.normaliser.facts.citedUrls),
    };
    return writer.send(JSON.stringify(body));
  }

  private blocksOf(message: Fields, found: readonly Fields[]): Fields[] {
    const { reasoning_content: thinking, tool_calls: calls } = message;
    const isShown = this.parts.shape.thinks && isText(thinking);
    const state = this.state.take();
    const text = textOf(message['content']) + textOf(message['refusal']);
    return [
      ...found,
      ...(isShown ? [{ type: 'thinking', thinking, signature: state ?? '' }] : []),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...fieldsOf(calls).map(({ id, function: called }) => {
        const { name, arguments: written } = isFields(called) ? called : {};
        return toolUse(id, name, inputOf(written));
      }),
      ...(state === undefined || isShown ? [] : [{ type: 'redacted_thinking', data: state }]),
    ];
  }
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** A text, or the texts of a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return fieldsOf(content)
    .map(({ text }) => textOf(text ?? []))
    .join('');
}
