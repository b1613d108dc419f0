import { type Fields, isFields } from '@svc/contracts/inference';

/** How a model is asked to reason: it decides by itself, or within a number of tokens. */
export type ThinkingForm = 'adaptive' | 'budget';

/** Efforts of chat completions by the provider's names. */
const EFFORTS: Readonly<Record<string, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
};

/** The tokens of an effort, for models that need a number. */
const BUDGETS: Readonly<Record<string, number>> = {
  low: 4_096,
  medium: 16_384,
  high: 32_768,
  xhigh: 65_536,
  max: 131_072,
};

/** The least budget. Source: the provider's API. */
const LEAST_BUDGET = 1_024;

/** The members of a request for reasoning, and whether it is on. */
export interface AskedThinking {
  readonly members: Fields;
  readonly isOn: boolean;
}

const NO_WISH: AskedThinking = { members: {}, isOn: false };

interface Wish {
  readonly effort: string | undefined;
  readonly budgetTokens: number | undefined;
  readonly isOff: boolean;
}

function wishOf({ reasoning_effort: plain, reasoning }: Fields): Wish {
  const { effort, max_tokens: budget, enabled } = isFields(reasoning) ? reasoning : {};
  const name = effort ?? plain;
  return {
    effort: typeof name === 'string' ? EFFORTS[name] : undefined,
    budgetTokens: typeof budget === 'number' && budget > 0 ? budget : undefined,
    isOff: enabled === false || name === 'none',
  };
}

/** The reasoning that a request asks for. The budget is a part of `maxTokens`. */
export function thinkingOf(request: Fields, form: ThinkingForm, maxTokens: number): AskedThinking {
  // By the operator's own members.
  if (isFields(request['thinking']))
    return { members: { thinking: request['thinking'] }, isOn: request['thinking']['type'] !== 'disabled' };
  const { effort, budgetTokens, isOff } = wishOf(request);
  if (isOff) return { members: { thinking: { type: 'disabled' } }, isOn: false };
  if (effort === undefined && budgetTokens === undefined) return NO_WISH;
  if (form === 'adaptive') {
    const thinking = { type: 'adaptive', display: 'summarized' };
    return { members: { thinking, ...(effort !== undefined && { output_config: { effort } }) }, isOn: true };
  }
  const wanted = budgetTokens ?? BUDGETS[effort ?? 'medium'] ?? LEAST_BUDGET;
  // At least half of the output is left for the response.
  const budget = Math.min(wanted, Math.floor(maxTokens / 2));
  if (budget < LEAST_BUDGET) return NO_WISH;
  return { members: { thinking: { type: 'enabled', budget_tokens: budget } }, isOn: true };
}
