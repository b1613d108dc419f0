import type { Completion } from '@svc/contracts';
import { type AnswerContext, costView, settleAnswer } from './answer.js';
import { type Fields, backendError, fieldsOf, parseBackendJson } from './backend-json.js';
import { Meter, usageOf } from './meter.js';
import { readUsage, usageView } from './usage-reading.js';
import { type WholeChoice, readChoice, withoutThoughts } from './whole-choice.js';

/** Charges a whole answer and gives its body as the client gets it. */
export async function wholeAnswer(completion: Completion, context: AnswerContext): Promise<string> {
  const answer = parseBackendJson(completion.body);
  if (answer['error'] && !answer['choices']) throw backendError(answer['error']);
  const choices = fieldsOf(answer['choices']).map(readChoice);
  const usage = usageOf(readUsage(answer['usage']), () => ({
    promptTokens: context.plan.promptTokens,
    completionTokens: countOutput(choices),
  }));
  const cost = await settleAnswer(context, completion.backend, usage);
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

/** Tokens that the backend generated, thoughts included, estimated. */
function countOutput(choices: readonly WholeChoice[]): number {
  const meter = new Meter();
  for (const { message } of choices) meter.addMessage(message);
  return meter.wholeTokens;
}
