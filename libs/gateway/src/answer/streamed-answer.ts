import { type ChunkStream, Problem, errorBody } from '@svc/contracts';
import { type AnswerContext, costView, settleAnswer } from './answer.js';
import { usageOf } from './answer-usage.js';
import { eventsOf } from './backend-events.js';
import { ChunkShaper } from './chunk-shaper.js';
import { Coverage, type Shortage } from '../holds/coverage.js';
import { usageView } from './usage-reading.js';

/** How an answer ended. */
type Outcome =
  | { readonly ending: 'done' | 'client_gone' | Shortage }
  | { readonly ending: 'cut'; readonly problem: Problem };

const frame = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

const DONE_FRAME = 'data: [DONE]\n\n';

/**
 * A streamed answer as the client gets it: frames of server-sent events, those that belong together in one text.
 * It extends its hold ahead of the tokens, and settles before the last frame, whatever ends it.
 */
export class StreamedAnswer {
  private readonly shaper: ChunkShaper;
  private readonly coverage: Coverage;

  constructor(
    private readonly stream: ChunkStream,
    private readonly context: AnswerContext,
  ) {
    const { requestId, plan, ticket, tokenizer } = context;
    const { model, thinking } = plan;
    this.shaper = new ChunkShaper({ id: requestId, model: model.id, thinking, tokenizer });
    this.coverage = new Coverage(ticket, plan);
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
      for await (const events of eventsOf(this.stream)) {
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
        const { meter } = this.shaper;
        const shortage = this.coverage.isAhead(meter) ? undefined : await this.coverage.reach(meter);
        if (shortage) return { frames, outcome: { ending: shortage } };
        meter.deliver();
        frames += shaped;
      }
      return { frames };
    } catch (error) {
      // What came before it is the client's.
      return { frames, outcome: { ending: 'cut', problem: Problem.from(error) } };
    }
  }

  private async lastFrames(outcome: Outcome): Promise<string> {
    const { record } = this.context;
    try {
      const settled = await this.settle(outcome);
      if (outcome.ending === 'cut') {
        record.problem = outcome.problem;
        return frame(streamError(outcome.problem)) + DONE_FRAME;
      }
      const finish = this.shaper.finish(outcome.ending === 'done' ? 'stop' : 'length');
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
    const { usage: reported, meter } = shaper;
    const usage = await usageOf({ reported, isWhole: ending === 'done', meter }, context);
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
