import { type Chunk, type Cost, chunksOf } from './response-bodies.js';

/** A completion with a search, streamed or not, as seen by its client. */
export interface SeenResponse {
  usage: { prompt_tokens: number; completion_tokens: number };
  cost: Cost;
  svc_parameters: {
    web_search_citations: { url: string }[];
    web_search_query?: string;
    web_search_error?: string;
  };
  /** The raw text. */
  raw: string;
  content: string;
  thoughts: string;
  finish: string | null;
  calls: { name?: string }[];
}

interface Message {
  content?: string | null;
  reasoning_content?: string | null;
  tool_calls?: { function?: { name?: string } }[];
}

/** Parses both streams and JSON documents. */
export async function seenOf(response: Response): Promise<SeenResponse> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const raw = await response.text();
  if (!isStream) {
    const whole = JSON.parse(raw) as SeenResponse & {
      choices: { message: Message; finish_reason: string }[];
    };
    const [choice] = whole.choices;
    return { ...whole, raw, ...outputIn([choice?.message ?? {}]), finish: choice?.finish_reason ?? null };
  }
  const { chunks } = await chunksOf(new Response(raw));
  const choices = chunks.flatMap((chunk) => chunk.choices ?? []);
  const finish = choices.find(({ finish_reason: reason }) => reason !== null)?.finish_reason ?? null;
  return {
    ...(chunks.at(-1) as Chunk & SeenResponse),
    raw,
    ...outputIn(choices.map(({ delta }) => delta)),
    finish,
  };
}

function outputIn(messages: readonly Message[]): Pick<SeenResponse, 'content' | 'thoughts' | 'calls'> {
  return {
    content: messages.map(({ content }) => content ?? '').join(''),
    thoughts: messages.map(({ reasoning_content: thought }) => thought ?? '').join(''),
    calls: messages.flatMap(({ tool_calls: calls }) => calls ?? []).map((call) => ({ ...call.function })),
  };
}
