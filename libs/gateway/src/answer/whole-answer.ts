import type { ChunkStream, Completion, Usage } from '@svc/contracts';
import { type AnswerContext, costView, settleAnswer } from './answer.js';
import { usageOf } from './answer-usage.js';
import { type Fields, backendError, fieldsOf, parseBackendJson } from '../json/backend-json.js';
import { gather } from './gathered-answer.js';
import { Meter } from '../tokens/meter.js';
import { readUsage, usageView } from './usage-reading.js';
import { type WholeChoice, readChoice, withoutThoughts } from './whole-choice.js';

/** Charges a whole answer and gives its body as the client gets it. */
export async function wholeAnswer(completion: Completion, context: AnswerContext): Promise<string> {
  const answer = parseBackendJson(completion.body);
  if (answer['error'] && !answer['choices']) throw backendError(answer['error']);
  const choices = fieldsOf(answer['choices']).map(readChoice);
  const meter = new Meter(context.tokenizer);
  for (const { index, message } of choices) meter.addMessage(message, index);
  meter.deliverWhole();
  const usage = await usageOf({ reported: readUsage(answer['usage']), isWhole: true, meter }, context);
  return settledBody({ answer, choices, usage, backend: completion.backend }, context);
}

/** The same of an answer that its backend streams, for a client that did not ask for a stream. */
export async function gatheredAnswer(stream: ChunkStream, context: AnswerContext): Promise<string> {
  const { answer, reported, meter, shortage } = await gather(stream, context);
  if (shortage) context.record.ended = shortage;
  const choices = fieldsOf(answer['choices']).map(readChoice);
  const usage = await usageOf({ reported, isWhole: shortage === undefined, meter }, context);
  return settledBody({ answer, choices, usage, backend: stream.backend }, context);
}

interface Answered {
  /** As the backend wrote it. */
  readonly answer: Fields;
  readonly choices: readonly WholeChoice[];
  readonly usage: Usage;
  readonly backend: string;
}

async function settledBody(
  { answer, choices, usage, backend }: Answered,
  context: AnswerContext,
): Promise<string> {
  const cost = await settleAnswer(context, backend, usage);
  const { plan, requestId } = context;
  return JSON.stringify({
    id: requestId,
    object: 'chat.completion',
    created: Number.isSafeInteger(answer['created']) ? answer['created'] : Math.floor(Date.now() / 1_000),
    model: plan.model.id,
    choices: plan.thinking.strip
      ? choices.map((choice) => withoutThoughts(choice, plan.thinking.startsInside))
      : choices,
    usage: usageView(usage),
    cost: costView(cost),
    prompt_logprobs: answer['prompt_logprobs'] ?? null,
    svc_parameters: plan.parameters,
  } satisfies Fields);
}
