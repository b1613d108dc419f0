import type { Model } from '@svc/catalog';
import type { MessagesRequest } from '@svc/api/messages';
import { type JsonPart, partOf } from '@svc/paid/json';

type Thinker = Pick<Model, 'capabilities' | 'reasoning'>;

type ThinkingRequest = Pick<MessagesRequest, 'thinking' | 'output_config'>;

/** Efforts, from the lowest, with the most tokens of a budget that they stand for. */
const BUDGETS = [
  ['minimal', 1_024],
  ['low', 4_096],
  ['medium', 16_384],
  ['high', 65_536],
  ['xhigh', Number.POSITIVE_INFINITY],
] as const;

const USUAL_EFFORTS = ['low', 'medium', 'high'];

/** Whether the client wants to see the model's reasoning. */
export function showsThinking({ thinking }: ThinkingRequest): boolean {
  return (
    thinking !== undefined &&
    thinking !== null &&
    thinking.type !== 'disabled' &&
    thinking.display !== 'omitted'
  );
}

/**
 * The members of a chat completion for the reasoning that a message asks for. Clients that were made for one
 * family of models ask for it whatever the model, so a model that cannot follow is not asked.
 */
export function thinkingMembers(
  { thinking, output_config: output }: ThinkingRequest,
  { capabilities, reasoning }: Thinker,
): (readonly [string, JsonPart])[] {
  const options = capabilities.reasoningEffortOptions ?? USUAL_EFFORTS;
  if (thinking?.type === 'disabled') {
    const canStop = reasoning?.off !== undefined || options.includes('none');
    return canStop ? [['reasoning', partOf({ enabled: false })]] : [];
  }
  if (!capabilities.supportsReasoningEffort) return [];
  const effort =
    output?.effort ?? (thinking?.type === 'enabled' ? effortOf(thinking.budget_tokens) : undefined);
  const nearest = effort === undefined ? undefined : nearestEffort(effort, options);
  return nearest === undefined ? [] : [['reasoning_effort', partOf(nearest)]];
}

function effortOf(budgetTokens: number): string {
  return BUDGETS.find(([, most]) => budgetTokens <= most)?.[0] ?? 'high';
}

const ORDER: readonly string[] = [...BUDGETS.map(([effort]) => effort), 'max'];

/** The effort that a model offers and that is nearest to the one asked for, or the lower one of two. */
function nearestEffort(effort: string, options: readonly string[]): string | undefined {
  const distance = (option: string): number => Math.abs(ORDER.indexOf(option) - ORDER.indexOf(effort));
  return ORDER.filter((option) => options.includes(option)).toSorted((a, b) => distance(a) - distance(b))[0];
}
