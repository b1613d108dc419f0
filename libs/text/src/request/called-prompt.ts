import { estimateTokens } from '../tokens/tokens.js';
import { partOf } from '@svc/paid/json';
import type { Findings } from '../web/web-research.js';
import type { CalledPlan } from './chat-plan.js';
import type { PreparedPrompt } from './preparation.js';
import { forTemplates, templateRules } from './template-roles.js';

/** The model's message that ends with its call for a search. */
export interface EarlierTurn {
  /** Its message, in the form that backends accept as input. */
  readonly message: object;
  /** The id of its tool call. */
  readonly id: string;
}

/** Tokens reserved for this service's own text in the tool result, and for two more messages. */
const OWN_TOKENS = 96;

const LAST_SEARCH = 'No further search can be made for this answer.';

/** Estimated tokens of the follow-up prompt, without the search results. */
export function tokensBeforeResults({ tokens }: PreparedPrompt, { message }: EarlierTurn): number {
  return tokens + estimateTokens(Buffer.byteLength(JSON.stringify(message))) + OWN_TOKENS;
}

/**
 * The prompt of the follow-up call: the model's tool call and the findings as its result, appended to the
 * unchanged prompt, so that prompt caches of backends keep working. They replace the messages of the plan's
 * text.
 */
export function promptAfterCall(
  prompt: PreparedPrompt,
  plan: CalledPlan,
  { turn, findings }: { turn: EarlierTurn; findings: Findings },
): PreparedPrompt {
  const content = resultOf(findings);
  const rules = templateRules(plan.model.backends, plan.encryption !== undefined);
  const messages = [turn.message, { role: 'tool', tool_call_id: turn.id, content }];
  const added = forTemplates(messages.map(partOf), rules).map(({ text }) => text);
  const before = plan.text.messages.trimEnd();
  const bytes = added.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const { tokenizer } = prompt;
  const count = async (): Promise<number> =>
    (await prompt.count()) + (tokenizer ? await tokenizer.count(added) : estimateTokens(bytes));
  plan.text.messages = `${before.slice(0, -1)},${added.join(',')}]`;
  return {
    tokens: plan.promptTokens + estimateTokens(Buffer.byteLength(content)),
    tokensAtMost: prompt.tokensAtMost + bytes,
    tokensAtLeast: prompt.tokensAtLeast,
    count,
    tokenizer,
  };
}

function resultOf({ instructions, block, echo }: Findings): string {
  if (block !== '') return `${instructions} ${LAST_SEARCH}\n\n${block}`;
  return `${echo.web_search_error ?? 'Nothing was found.'} ${LAST_SEARCH} Answer without it, and say so where it matters.`;
}
