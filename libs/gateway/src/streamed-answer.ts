import { type ChunkStream, Problem, errorBody } from '@svc/contracts';
import { type AnswerContext, costView, settleAnswer } from './answer.js';
import { ChunkShaper } from './chunk-shaper.js';
import { usageOf } from './meter.js';
import { usageView } from './usage-reading.js';

/** How an answer ended. */
type Outcome =
  | { readonly ending: 'done' | 'client_gone' | 'out_of_money' }
  | { readonly ending: 'cut'; readonly problem: Problem };

const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

const DONE_FRAME = 'data: [DONE]\n\n';

/**
 * A streamed answer as the client gets it: frames of server-sent events, those that belong together in one text.
 * It extends its hold ahead of the tokens, and settles before the last frame, whatever ends it.
 */
export class StreamedAnswer {
  private readonly shaper: ChunkShaper;
  /** Output tokens for which money is held ahead. */
  private readonly trancheTokens: number;
  private renewAtTokens: number;
  private deliveredTokens = 0;

  constructor(
    private readonly stream: ChunkStream,
    private readonly context: AnswerContext,
  ) {
    const { model, thinking } = context.plan;
    this.shaper = new ChunkShaper({ id: context.requestId, model: model.id, thinking });
    this.trancheTokens = context.ticket.coveredTokens;
    this.renewAtTokens = this.trancheTokens / 2;
  }

  /** Iterated once. Whoever stops iterating early has gone: what was delivered is charged. */
  async *frames(): AsyncGenerator<string, void> {
    let outcome: Outcome = { ending: 'client_gone' };
    try {
      outcome = yield* this.deliver();
    } finally {
      // A client that goes away ends this generator in the middle of a yield.
      if (outcome.ending === 'client_gone') await this.settle(outcome);
    }
    if (outcome.ending !== 'client_gone') yield await this.lastFrames(outcome);
  }

  private async *deliver(): AsyncGenerator<string, Outcome> {
    try {
      for await (const events of this.stream.events) {
        const { frames, outcome } = await this.take(events);
        if (frames !== '') yield frames;
        if (outcome) return outcome;
      }
      return { ending: 'done' };
    } catch (error) {
      if (this.context.signal.aborted) return { ending: 'client_gone' };
      return { ending: 'cut', problem: Problem.from(error) };
    }
  }

  /** The frames of events that arrived together, up to one that ends the answer. */
  private async take(events: readonly string[]): Promise<{ frames: string; outcome?: Outcome }> {
    let frames = '';
    try {
      for (const event of events) {
        const shaped = this.shaper.shape(event);
        const { tokens } = this.shaper.meter;
        // Asked only when it is close: a wait per chunk would cost more than the chunk.
        const isCovered = tokens < this.renewAtTokens || (await this.isCovered(tokens));
        if (!isCovered) return { frames, outcome: { ending: 'out_of_money' } };
        this.deliveredTokens = tokens;
        frames += shaped;
      }
      return { frames };
    } catch (error) {
      // What came before it is the client's.
      return { frames, outcome: { ending: 'cut', problem: Problem.from(error) } };
    }
  }

  /** Holds the next tranche. False when so many tokens are not held. */
  private async isCovered(tokens: number): Promise<boolean> {
    const { ticket, plan } = this.context;
    await ticket.cover(Math.min(tokens + this.trancheTokens, plan.outputTokensAtMost), tokens);
    // With half of it used the next is asked for; with none to be had, each token is looked at.
    this.renewAtTokens = Math.max(tokens + 1, ticket.coveredTokens - this.trancheTokens / 2);
    return tokens <= ticket.coveredTokens;
  }

  private async lastFrames(outcome: Outcome): Promise<string> {
    const { record } = this.context;
    try {
      const settled = await this.settle(outcome);
      if (outcome.ending === 'cut') {
        record.problem = outcome.problem;
        return frame(streamError(outcome.problem)) + DONE_FRAME;
      }
      const finish = this.shaper.finish(outcome.ending === 'out_of_money' ? 'length' : 'stop');
      return finish + frame(this.shaper.last(settled)) + DONE_FRAME;
    } catch (error) {
      // The end of an answer is only told when its charge is safe.
      record.problem = Problem.from(error);
      return frame(streamError(record.problem)) + DONE_FRAME;
    }
  }

  private async settle({ ending }: Outcome): Promise<Record<string, unknown>> {
    const { context, shaper } = this;
    if (ending !== 'done') context.record.ended = ending;
    // A backend's count of an answer that was not delivered whole is not what the client got.
    const usage = usageOf(ending === 'done' ? shaper.usage : undefined, () => ({
      promptTokens: shaper.usage?.promptTokens ?? context.plan.promptTokens,
      completionTokens: this.deliveredTokens,
    }));
    const cost = await settleAnswer(context, this.stream.backend, usage);
    return { usage: usageView(usage), cost: costView(cost), svc_parameters: context.plan.parameters };
  }
}

function streamError(problem: Problem): unknown {
  const { error } = errorBody(problem);
  return {
    error:
      problem.retryAfterSeconds === undefined ? error : { ...error, retry_after: problem.retryAfterSeconds },
  };
}
