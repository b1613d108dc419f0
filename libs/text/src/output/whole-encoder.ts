import { fieldsOf } from '@svc/contracts/inference';
import type { ResponseWriter } from '@svc/paid/http';
import type { DocumentsCall } from '../web/documents-call.js';
import { type ResponseEncoder, type ChargedOutput, costView } from './output-relay.js';
import { AssembledChoice, type ChoicePiece, type WholeChoice } from './assembled-choice.js';
import type { OutputNormaliser } from './normaliser.js';
import { type CompletionHead, type ChoiceShape, echoOf } from './completion-head.js';
import { usageView } from './usage.js';

/** Writes a response as one document assembled from its pieces. */
export class WholeEncoder implements ResponseEncoder {
  readonly isLive = false;
  readonly repeating = undefined;
  private readonly choices = new Map<number, AssembledChoice>();

  constructor(
    private readonly writer: Pick<ResponseWriter, 'send' | 'isGone'>,
    private normaliser: OutputNormaliser,
    private about: Omit<CompletionHead, 'usageApart'>,
    /** How choices are written, unless as those of a chat completion. */
    private readonly shape?: ChoiceShape,
  ) {}

  continueWith(normaliser: OutputNormaliser, about: Omit<CompletionHead, 'usageApart'>): void {
    this.normaliser = normaliser;
    this.about = about;
  }

  get isGone(): boolean {
    return this.writer.isGone;
  }

  add(pieces: readonly ChoicePiece[]): void {
    for (const piece of pieces) {
      const choice = this.choices.get(piece.index) ?? new AssembledChoice(piece.index);
      this.choices.set(piece.index, choice);
      choice.add(piece);
    }
  }

  flush(): undefined {
    return undefined;
  }

  end({ ending, usage, cost, hasOutput }: ChargedOutput): Promise<void> | undefined {
    const { id, model, documents, serviceTier } = this.about;
    this.add(this.normaliser.finish(ending.kind === 'done' ? 'stop' : 'length'));
    const choices = Array.from(this.choices.values());
    if (choices.length > 1) choices.sort((a, b) => a.index - b.index);
    const { promptLogprobs } = this.normaliser;
    const body = {
      id,
      object: this.shape?.object ?? 'chat.completion',
      created: Math.floor(Date.now() / 1_000),
      model,
      choices: choices.map((choice) => {
        const whole = choice.whole();
        if (this.shape) return this.shape.whole(whole);
        return documents && hasOutput ? withDocuments(whole, documents) : whole;
      }),
      usage: usageView(usage),
      cost: costView(cost),
      service_tier: serviceTier,
      prompt_token_ids: this.normaliser.facts.promptTokenIds,
      svc_parameters: echoOf(this.about, hasOutput, this.normaliser.facts.citedUrls),
      prompt_logprobs: promptLogprobs === undefined ? null : undefined,
    };
    const json = JSON.stringify(body);
    if (promptLogprobs === undefined) return this.writer.send(json);
    return this.writer.send(`${json.slice(0, -1)},"prompt_logprobs":${promptLogprobs}}`);
  }
}

/** Puts the web results first, before the model's own calls. */
function withDocuments(choice: WholeChoice, documents: DocumentsCall): WholeChoice {
  const { message } = choice;
  return { ...choice, message: { ...message, tool_calls: [documents, ...fieldsOf(message['tool_calls'])] } };
}
