import type { InputItem } from '@svc/api/responses';

type CallItem = Extract<InputItem, { type: 'function_call' | 'custom_tool_call' }>;
type OutputItem = Extract<InputItem, { type: 'function_call_output' | 'custom_tool_call_output' }>;

export const isCall = (item: InputItem): item is CallItem =>
  item.type === 'function_call' || item.type === 'custom_tool_call';

export const isOutput = (item: InputItem): item is OutputItem =>
  item.type === 'function_call_output' || item.type === 'custom_tool_call_output';

/** Which outputs belong to which calls, by their positions in the input. */
export interface AnsweredCalls {
  /** The position of the output of each call that has one. */
  readonly outputs: ReadonlyMap<number, number>;
  /** Outputs whose call is not part of the input. */
  readonly withoutCall: ReadonlySet<number>;
  /** Calls and outputs that repeat others. */
  readonly repeated: ReadonlySet<number>;
}

/**
 * Each output belongs to the last call before it with its id that has no output yet, since some servers give
 * the calls of each response the same ids.
 */
export function answeredCalls(items: readonly InputItem[]): AnsweredCalls {
  const open = new Map<string, number>();
  const known = new Set<string>();
  const outputs = new Map<number, number>();
  const withoutCall = new Set<number>();
  const repeated = new Set<number>();
  for (const [at, item] of items.entries()) {
    if (isCall(item)) {
      const before = items[open.get(item.call_id) ?? -1];
      if (before && isSameCall(before, item)) repeated.add(at);
      else open.set(item.call_id, at);
    }
    if (isOutput(item)) {
      const call = open.get(item.call_id);
      if (call !== undefined) outputs.set(call, at);
      else (known.has(item.call_id) ? repeated : withoutCall).add(at);
      open.delete(item.call_id);
    }
    if (isCall(item) || isOutput(item)) known.add(item.call_id);
  }
  return { outputs, withoutCall, repeated };
}

function isSameCall(one: InputItem, other: CallItem): boolean {
  if (!isCall(one) || one.type !== other.type || one.name !== other.name) return false;
  return textOf(one) === textOf(other);
}

const textOf = (call: CallItem): string => (call.type === 'function_call' ? call.arguments : call.input);
