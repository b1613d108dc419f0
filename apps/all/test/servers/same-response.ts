interface Choice {
  readonly index: number;
  readonly finish_reason: string | null;
  readonly stop_reason?: unknown;
  readonly message?: Message;
  readonly delta?: Message;
  readonly logprobs?: { readonly content: readonly object[] | null } | null;
}

interface Message {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly { readonly function: object }[] | null;
}

/** The members of a chat completion, or of a chunk of one, that are compared. */
export interface Completion {
  readonly choices: readonly Choice[];
  readonly usage?: Readonly<Record<string, unknown>> | null;
  readonly prompt_logprobs?: unknown;
}

type Ask = (body: object) => Promise<Response>;

/** Sends a request with these members, directly to a server, and through the platform. */
export function bothWays(
  serverUrl: () => string,
  send: Ask,
): { readonly direct: Ask; readonly through: Ask } {
  const messages = [{ role: 'user', content: 'hello world' }];
  const request = (body: object): object => ({
    model: 'chat',
    messages,
    max_tokens: 16,
    temperature: 0,
    seed: 1,
    ...body,
  });
  return {
    direct: (body) =>
      fetch(`${serverUrl()}/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(request(body)),
      }),
    through: (body) => send(request(body)),
  };
}

/** What clients read. Ids and times differ; this service adds `cost` and leaves out what it does not know. */
export function comparable({ choices, usage, prompt_logprobs: promptLogprobs }: Completion): object {
  return {
    choices: choices.map((choice) => ({ ...readable(choice), ...readableMessage(choice.message) })),
    usage: readableUsage(usage),
    // As text, because the order of its members counts.
    promptLogprobs: JSON.stringify(promptLogprobs ?? null),
  };
}

const readable = ({
  index,
  finish_reason: finish,
  logprobs,
  stop_reason: stop,
  message,
}: Choice): object => ({
  index,
  finish: finishOf(finish, (message?.tool_calls ?? []).length > 0),
  logprobs: logprobs?.content ?? null,
  isStopped: typeof stop === 'string',
});

const finishOf = (finish: unknown, hasCalls: boolean): unknown =>
  finish === 'stop' && hasCalls ? 'tool_calls' : finish;

const readableMessage = ({
  content,
  reasoning_content: reasoning,
  tool_calls: calls,
}: Message = {}): object => ({
  content: content ?? null,
  reasoning: reasoning ?? null,
  calls: calls?.map(({ function: called }) => called) ?? [],
});

function readableUsage(usage: Completion['usage']): object {
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage ?? {};
  return { prompt, completion, total };
}

/** The pieces of a stream put together. */
export async function gathered(response: Response): Promise<object> {
  const choices = new Map<number, { text: string; calls: string; finish: unknown; logprobs: object[] }>();
  let usage: object = {};
  for (const line of (await response.text()).split('\n')) {
    if (!line.startsWith('data: {')) continue;
    const chunk = JSON.parse(line.slice('data: '.length)) as Completion;
    if (chunk.usage) usage = readableUsage(chunk.usage);
    for (const { index, delta, finish_reason: finish, logprobs } of chunk.choices) {
      const known = choices.get(index) ?? { text: '', calls: '', finish: null, logprobs: [] };
      choices.set(index, {
        text: known.text + (delta?.content ?? ''),
        calls:
          known.calls + (delta?.tool_calls ?? []).map(({ function: called }) => piecesOf(called)).join(''),
        finish: finish ?? known.finish,
        logprobs: [...known.logprobs, ...(logprobs?.content ?? [])],
      });
    }
  }
  const ended = Array.from(choices, ([index, choice]) => ({
    ...choice,
    index,
    finish: finishOf(choice.finish, choice.calls !== ''),
  }));
  return { choices: ended.toSorted((a, b) => a.index - b.index), usage };
}

const piecesOf = ({
  name = '',
  arguments: text = '',
}: {
  name?: string | null;
  arguments?: string | null;
}): string => `${name ?? ''}${text ?? ''}`;
