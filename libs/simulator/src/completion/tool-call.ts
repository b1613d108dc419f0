import { messageText } from '../request/chat-request.js';
import type { SimulatorRequest, FunctionTool } from '../request/chat-request.js';
import type { Overrides } from '../request/overrides.js';

/** Words in function names that do not show what a user wants. */
const COMMON_WORDS = new Set(
  'get set add run call make find the and for from with new tool function current latest list create update query fetch'.split(
    ' ',
  ),
);

/** The functions to call now, in order; empty for a text completion. */
export function chooseTools(
  request: SimulatorRequest,
  overrides: Overrides,
  userText: string,
): FunctionTool[] {
  const { tools, toolChoice } = request;
  if (toolChoice === 'none' || tools.length === 0) return [];
  const first = chooseFirst(request, overrides, userText);
  if (first.length === 0) return [];
  const isParallel = overrides.parallel === true && request.parallelToolCalls;
  if (!isParallel) return request.parallelToolCalls ? first : first.slice(0, 1);
  if (first.length > 1) return first;
  const second = tools.find((tool) => tool !== first[0]) ?? first[0];
  return second === undefined ? first : [...first, second];
}

function chooseFirst(request: SimulatorRequest, overrides: Overrides, userText: string): FunctionTool[] {
  const { tools, toolChoice } = request;
  if (typeof toolChoice === 'object')
    return tools.filter((tool) => tool.name === toolChoice.name).slice(0, 1);
  const isAfterResult = request.messages.at(-1)?.role === 'tool';
  if (toolChoice === 'auto' && isAfterResult) return [];
  const named = (overrides.tool ?? []).flatMap((name) => tools.find((tool) => tool.name === name) ?? []);
  if (named.length > 0) return named;
  const best = mostMentioned(tools, userText);
  if (best !== undefined) return [best];
  return toolChoice === 'required' || overrides.parallel === true ? tools.slice(0, 1) : [];
}

function mostMentioned(tools: readonly FunctionTool[], userText: string): FunctionTool | undefined {
  const text = userText.toLowerCase();
  const spoken = new Set(text.split(/[^\p{L}\p{N}]+/u));
  let best: FunctionTool | undefined;
  let most = 0;
  for (const tool of tools) {
    const isNamed = text.includes(tool.name.toLowerCase());
    const score = isNamed
      ? Number.MAX_SAFE_INTEGER
      : nameWords(tool.name).filter((word) => spoken.has(word)).length;
    if (score > most) [best, most] = [tool, score];
  }
  return best;
}

/** The significant words of a name in snake_case, kebab-case or camelCase. */
function nameWords(name: string): string[] {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word.length > 2 && !COMMON_WORDS.has(word));
}

/** A reply with the results of the latest tool calls; undefined if the last message is not a result. */
export function toolResultReply(request: SimulatorRequest): string | undefined {
  const { messages } = request;
  const firstResult = messages.findLastIndex((message) => message.role !== 'tool') + 1;
  const results = messages.slice(firstResult);
  if (results.length === 0) return undefined;
  return results.map((message) => `The tool returned: ${messageText(message)}`).join('\n');
}
