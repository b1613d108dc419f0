import type { AnswerWriter } from '../http/answer-writer.js';
import type { Fields } from '../json/backend-json.js';
import { type AnswerForm, type Settled, costView } from './answer.js';
import { AssembledChoice } from './assembled-choice.js';
import type { AnswerNormaliser, ChoicePiece } from './normaliser.js';
import type { AnswerHead } from './streamed-form.js';
import { usageView } from './usage.js';

/** An answer as one document, put together from all of its pieces. */
export class WholeForm implements AnswerForm {
  readonly isLive = false;
  private readonly choices = new Map<number, AssembledChoice>();

  constructor(
    private readonly writer: Pick<AnswerWriter, 'send' | 'isGone'>,
    private readonly normaliser: AnswerNormaliser,
    private readonly about: Omit<AnswerHead, 'usageApart'>,
  ) {}

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

  async end({ ending, usage, cost }: Settled): Promise<void> {
    const { id, model, parameters } = this.about;
    this.add(this.normaliser.finish(ending.kind === 'done' ? 'stop' : 'length'));
    const choices = Array.from(this.choices.values()).toSorted((a, b) => a.index - b.index);
    const body: Fields = {
      id,
      object: 'chat.completion',
      created: Math.floor(Date.now() / 1_000),
      model,
      choices: choices.map((choice) => choice.whole()),
      usage: usageView(usage),
      cost: costView(cost),
      prompt_logprobs: this.normaliser.promptLogprobs,
      svc_parameters: parameters,
    };
    await this.writer.send(JSON.stringify(body));
  }
}
