import type { ChatBody, ChatChunk } from '../api/chat-stream.js';
import { nanoOf } from '../text/format.js';

/** A call of a tool that the model asks for. */
export interface CalledTool {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

interface Citation {
  readonly title: string;
  readonly url: string;
}

export interface ModelTurn {
  readonly role: 'assistant';
  readonly model: string;
  readonly requestId: string;
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly CalledTool[];
  readonly citations: readonly Citation[];
  readonly usage?: ChatChunk['usage'];
  readonly cost?: ChatChunk['cost'];
  readonly durationMs: number;
  /** How it ended; `running` while it is streamed. */
  readonly end: 'running' | 'complete' | 'stopped' | 'length' | 'failed';
  readonly error?: Error;
}

interface UserTurn {
  readonly role: 'user';
  readonly content: string;
}

/** The result of a tool, which the reader gives. */
export interface ToolTurn {
  readonly role: 'tool';
  readonly id: string;
  readonly content: string;
}

export type Turn = UserTurn | ModelTurn | ToolTurn;

export const newTurn = (model: string): ModelTurn => ({
  role: 'assistant',
  model,
  requestId: '',
  content: '',
  reasoning: '',
  calls: [],
  citations: [],
  durationMs: 0,
  end: 'running',
});

type Delta = ChatChunk['choices'][number]['delta'];

/** Adds the pieces of calls to those that have arrived. */
function withCalls(calls: readonly CalledTool[], pieces: NonNullable<Delta['tool_calls']>): CalledTool[] {
  const next = [...calls];
  for (const { index, id, function: piece } of pieces) {
    const before = next[index] ?? { id: '', name: '', arguments: '' };
    next[index] = {
      id: id ?? before.id,
      name: before.name + (piece?.name ?? ''),
      arguments: before.arguments + (piece?.arguments ?? ''),
    };
  }
  return next;
}

/** A turn with one more chunk of its stream. */
export function withChunk(turn: ModelTurn, chunk: ChatChunk): ModelTurn {
  const choice = chunk.choices[0];
  const delta: Delta = choice?.delta ?? {};
  return {
    ...turn,
    requestId: chunk.id,
    content: turn.content + (delta.content ?? ''),
    reasoning: turn.reasoning + (delta.reasoning_content ?? ''),
    calls: delta.tool_calls ? withCalls(turn.calls, delta.tool_calls) : turn.calls,
    citations: chunk.svc_parameters?.web_search_citations ?? turn.citations,
    usage: chunk.usage ?? turn.usage,
    cost: chunk.cost ?? turn.cost,
    end: choice?.finish_reason === 'length' ? 'length' : turn.end,
  };
}

/** The choices beside the conversation. */
export interface Settings {
  readonly model: string;
  readonly system: string;
  readonly temperature: string;
  readonly maxTokens: string;
  readonly effort: string;
  readonly webSearch: 'off' | 'auto' | 'on';
  /** JSON. */
  readonly tools: string;
}

type Message = ChatBody['messages'][number];

function messageOf(turn: Turn): Message | undefined {
  if (turn.role === 'user') return { role: 'user', content: turn.content };
  if (turn.role === 'tool') return { role: 'tool', tool_call_id: turn.id, content: turn.content };
  if (turn.content === '' && turn.calls.length === 0) return undefined;
  const calls = turn.calls.map(({ id, name, arguments: text }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: text },
  }));
  return {
    role: 'assistant',
    content: turn.content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

/** The tools that a text lists; nothing if it is not a list in JSON. */
export function toolsOf(text: string): ChatBody['tools'] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? (value as ChatBody['tools']) : undefined;
  } catch {
    return undefined;
  }
}

/** The request for the next response of the model. */
export function bodyOf(settings: Settings, turns: readonly Turn[]): ChatBody {
  const { model, system, temperature, maxTokens, effort, webSearch, tools } = settings;
  const instructions: Message[] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  const toolList = toolsOf(tools);
  return {
    model,
    messages: [...instructions, ...turns.map(messageOf).filter((message) => message !== undefined)],
    stream: true,
    ...(temperature === '' ? {} : { temperature: Number(temperature) }),
    ...(maxTokens === '' ? {} : { max_completion_tokens: Number(maxTokens) }),
    ...(effort === '' ? {} : { reasoning_effort: effort as ChatBody['reasoning_effort'] }),
    ...(toolList && { tools: toolList }),
    ...(webSearch === 'off' ? {} : { svc_parameters: { enable_web_search: webSearch } }),
  };
}

/** What a conversation has used so far, exact to the nano-dollar. */
export function totalsOf(turns: readonly Turn[]) {
  const model = turns.filter((turn) => turn.role === 'assistant');
  const sum = (count: (turn: ModelTurn) => number) => model.reduce((total, turn) => total + count(turn), 0);
  return {
    usdNano: model.reduce((total, { cost }) => total + nanoOf(cost?.usd ?? 0), 0n),
    diemNano: model.reduce((total, { cost }) => total + nanoOf(cost?.diem ?? 0), 0n),
    inputTokens: sum(({ usage }) => usage?.prompt_tokens ?? 0),
    outputTokens: sum(({ usage }) => usage?.completion_tokens ?? 0),
  };
}
