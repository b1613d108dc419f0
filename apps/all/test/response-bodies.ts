/** The common error envelope, as seen by clients. */
export interface ApiErrorBody {
  error: { message: string; type: string; param: string | null; code: string };
  code: string;
  details?: Record<string, unknown>;
  issues?: { code: string; path: (string | number)[]; message: string }[];
}

export interface Cost {
  usd: number;
  diem: number;
}

/** The members of a chunk that tests use. */
export interface Chunk {
  id: string;
  choices: { index: number; delta: { role?: string; content?: string }; finish_reason: string | null }[];
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number };
  cost?: Cost;
  error?: ApiErrorBody['error'];
}

/** The error body of a response. */
export async function errorOf(response: Response): Promise<ApiErrorBody> {
  return (await response.json()) as ApiErrorBody;
}

/** The chunks of a streamed response, and whether it ended with `[DONE]`. */
export async function chunksOf(
  response: Response,
): Promise<{ chunks: Chunk[]; text: string; done: boolean }> {
  const events = (await response.text()).split('\n\n').filter((event) => event.startsWith('data: '));
  const data = events.map((event) => event.slice('data: '.length));
  const done = data.at(-1) === '[DONE]';
  const chunks = data.filter((text) => text !== '[DONE]').map((text) => JSON.parse(text) as Chunk);
  const text = chunks.flatMap(({ choices }) => choices ?? []).map(({ delta }) => delta.content ?? '');
  return { chunks, text: text.join(''), done };
}

/** Waits until a condition holds; fails after a time that no machine needs. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 50_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
