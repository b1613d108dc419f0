import { type Fields, isFields } from '@svc/contracts/inference';
import { type ThinkingForm, reasoningWish } from '../chat/other-forms.js';

/** Efforts of chat completions that have another name at the provider. */
const EFFORTS: Readonly<Record<string, string>> = { minimal: 'low' };

/** The least budget. Source: the provider's API. */
const LEAST_BUDGET = 1_024;

/** The members of a request for reasoning, and whether it is on. */
export interface AskedThinking {
  readonly members: Fields;
  readonly isOn: boolean;
}

const NO_WISH: AskedThinking = { members: {}, isOn: false };

/** The reasoning that a request asks for. The budget is a part of `maxTokens`. */
export function thinkingOf(request: Fields, form: ThinkingForm, maxTokens: number): AskedThinking {
  // By the operator's own members.
  if (isFields(request['thinking']))
    return { members: { thinking: request['thinking'] }, isOn: request['thinking']['type'] !== 'disabled' };
  const { effort, budgetTokens, isOff } = reasoningWish(request, maxTokens);
  if (isOff) return { members: { thinking: { type: 'disabled' } }, isOn: false };
  if (budgetTokens === undefined) return NO_WISH;
  if (form === 'budget') {
    if (budgetTokens < LEAST_BUDGET) return NO_WISH;
    return { members: { thinking: { type: 'enabled', budget_tokens: budgetTokens } }, isOn: true };
  }
  const thinking = { type: 'adaptive', display: 'summarized' };
  const config = effort === undefined ? {} : { output_config: { effort: EFFORTS[effort] ?? effort } };
  return { members: { thinking, ...config }, isOn: true };
}
