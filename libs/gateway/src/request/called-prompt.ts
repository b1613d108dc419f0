import { estimateTokens } from '../tokens/tokens.js';
import type { Findings } from '../web/web-research.js';
import type { CalledPlan } from './chat-plan.js';
import type { PreparedPrompt } from './preparation.js';

/** What a model has said up to its call for a search. */
export interface SaidBefore {
  /** Its message, as backends take it back. */
  readonly message: object;
  /** Of its call. */
  readonly id: string;
}

/** Room for the words of this service in what a call is answered with, and for two more messages. */
const OWN_TOKENS = 96;

const LAST_SEARCH = 'No further search can be made for this answer.';

/** Tokens of a prompt that goes on with what was said, before anything is found, estimated. */
export function tokensBeforeResults({ tokens }: PreparedPrompt, { message }: SaidBefore): number {
  return tokens + estimateTokens(Buffer.byteLength(JSON.stringify(message))) + OWN_TOKENS;
}

/**
 * A prompt that goes on with the call of a model and with what was found as what the call gives back. All before it stays as it
 * was, so that backends which keep prompts need not read it again.
 */
export function promptAfterCall(
  prompt: PreparedPrompt,
  plan: CalledPlan,
  { said, findings }: { said: SaidBefore; findings: Findings },
): PreparedPrompt {
  const content = resultOf(findings);
  const added = [said.message, { role: 'tool', tool_call_id: said.id, content }].map((message) =>
    JSON.stringify(message),
  );
  const before = (prompt.messages ?? plan.members.get('messages') ?? '[]').trimEnd();
  const bytes = added.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const { tokenizer } = prompt;
  const count = async (): Promise<number> =>
    (await prompt.count()) + (tokenizer ? await tokenizer.count(added) : estimateTokens(bytes));
  return {
    messages: `${before.slice(0, -1)},${added.join(',')}]`,
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
