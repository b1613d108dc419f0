import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { generateKeyPairSync } from 'node:crypto';
import { bedrockEvent } from '@svc/router/testing';
import { TestServer } from '@svc/testing';

type Fields = Readonly<Record<string, unknown>>;

/** What a provider's model does next: it calls a tool, or says that it is done. */
type Step = { readonly tool: string; readonly input: object } | { readonly text: string };

/** How a provider names what the fakes read of a request, and streams a response. */
interface Provider {
  /** The settings of a backend. */
  readonly backend: object;
  /** The path of its base URL. */
  readonly base: string;
  /** Its path for a stream. */
  readonly isStream: RegExp;
  readonly toolsOf: (body: Fields) => readonly string[];
  /** Whether the last turn has the result of a tool. */
  readonly hasResult: (body: Fields) => boolean;
  readonly contentType: string;
  readonly stream: (step: Step) => readonly (Buffer | string)[];
}

const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);
const fields = (value: unknown): Fields => (value ?? {}) as Fields;
const namesOf = (tools: readonly Fields[]): string[] =>
  tools.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
const partsOf = (turn: Fields | undefined): readonly Fields[] => list(turn?.['content']);
const data = (event: object, type = ''): string =>
  `${type === '' ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`;

const anthropicEvents = (step: Step): string[] => {
  const isCall = 'tool' in step;
  const usage = { input_tokens: 20, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage,
  };
  const events = [
    { type: 'message_start', message },
    {
      type: 'content_block_start',
      index: 0,
      content_block: isCall
        ? { type: 'tool_use', id: 'toolu_1', name: step.tool, input: {} }
        : { type: 'text', text: '' },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: isCall
        ? { type: 'input_json_delta', partial_json: JSON.stringify(step.input) }
        : { type: 'text_delta', text: step.text },
    },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: 9 },
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => data(event, event.type));
};

const geminiEvents = (step: Step): string[] => {
  const part =
    'tool' in step
      ? { functionCall: { name: step.tool, args: step.input }, thoughtSignature: 'CiQB==' }
      : { text: step.text };
  const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 9 };
  return [
    data({ candidates: [{ index: 0, content: { role: 'model', parts: [part] } }] }),
    data({ candidates: [{ index: 0, finishReason: 'STOP' }], usageMetadata }),
  ];
};

const bedrockEvents = (step: Step): Buffer[] => {
  const isCall = 'tool' in step;
  const start = { contentBlockIndex: 0, start: { toolUse: { toolUseId: 'tooluse_1', name: '' } } };
  if (isCall) start.start.toolUse.name = step.tool;
  const delta = isCall ? { toolUse: { input: JSON.stringify(step.input) } } : { text: step.text };
  return [
    bedrockEvent('messageStart', { role: 'assistant' }),
    ...(isCall ? [bedrockEvent('contentBlockStart', start)] : []),
    bedrockEvent('contentBlockDelta', { contentBlockIndex: 0, delta }),
    bedrockEvent('contentBlockStop', { contentBlockIndex: 0 }),
    bedrockEvent('messageStop', { stopReason: isCall ? 'tool_use' : 'end_turn' }),
    bedrockEvent('metadata', { usage: { inputTokens: 20, outputTokens: 9 }, metrics: { latencyMs: 3 } }),
  ];
};

const openAiEvents = (step: Step): string[] => {
  const isCall = 'tool' in step;
  const call = isCall && {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: step.tool, arguments: JSON.stringify(step.input) },
  };
  const delta = isCall ? { tool_calls: [call] } : { content: step.text };
  const finish = isCall ? 'tool_calls' : 'stop';
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
  return [
    data({ ...chunk, choices: [{ index: 0, delta: { role: 'assistant', ...delta }, finish_reason: null }] }),
    data({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finish }] }),
    data({ ...chunk, choices: [], usage: { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 } }),
    'data: [DONE]\n\n',
  ];
};

const gemini = {
  isStream: /:streamGenerateContent\?alt=sse$/,
  toolsOf: (body: Fields) =>
    list(body['tools']).flatMap((tool) => namesOf(list(tool['functionDeclarations']))),
  hasResult: (body: Fields) =>
    list(list(body['contents']).at(-1)?.['parts']).some((part) => 'functionResponse' in part),
  contentType: 'text/event-stream',
  stream: geminiEvents,
};
const openAi = {
  isStream: /\/chat\/completions$/,
  toolsOf: (body: Fields) => namesOf(list(body['tools']).map((tool) => fields(tool['function']))),
  hasResult: (body: Fields) => list(body['messages']).at(-1)?.['role'] === 'tool',
  contentType: 'text/event-stream',
  stream: openAiEvents,
};
const withKey = { apiKeyEnv: 'HOSTED_KEY' };

/** A fake of each kind of hosted provider. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  anthropic: {
    backend: { kind: 'anthropic', ...withKey },
    base: '/v1',
    isStream: /\/messages$/,
    toolsOf: (body) => namesOf(list(body['tools'])),
    hasResult: (body) =>
      partsOf(list(body['messages']).findLast(({ role }) => role === 'user')).some(
        ({ type }) => type === 'tool_result',
      ),
    contentType: 'text/event-stream',
    stream: anthropicEvents,
  },
  gemini: { ...gemini, backend: { kind: 'gemini', ...withKey }, base: '/v1beta' },
  vertex: {
    ...gemini,
    backend: { kind: 'vertex', apiKeyEnv: 'GOOGLE_ACCOUNT' },
    base: '/v1/projects/p/locations/l/publishers/google',
  },
  bedrock: {
    backend: { kind: 'bedrock', ...withKey },
    base: '',
    isStream: /\/converse-stream$/,
    toolsOf: (body) =>
      namesOf(list(fields(body['toolConfig'])['tools']).map((tool) => fields(tool['toolSpec']))),
    hasResult: (body) => partsOf(list(body['messages']).at(-1)).some((part) => 'toolResult' in part),
    contentType: 'application/vnd.amazon.eventstream',
    stream: bedrockEvents,
  },
  azure: { ...openAi, backend: { kind: 'azure', ...withKey }, base: '/openai/v1' },
  openai: { ...openAi, backend: { kind: 'openai', ...withKey }, base: '/v1' },
};

/** The kinds of providers that have a fake. */
export const KINDS = Object.keys(PROVIDERS);

/** The last words of a fake's model. */
export const doneBy = (kind: string): string => `The task is done by ${kind}.`;

/** Stand in for providers: each model calls one of the tools that it is offered once, and is done then. */
export class ProviderFakes {
  /** The kinds that got the result of a tool. */
  readonly completed = new Set<string>();

  private constructor(
    private readonly server: TestServer,
    private readonly inputs: ReadonlyMap<string, object>,
  ) {}

  /** Their models call the tools with these inputs. */
  static async start(inputs: ReadonlyMap<string, object>): Promise<ProviderFakes> {
    const server = await TestServer.start((request, response) => void fakes.respond(request, response));
    const fakes = new ProviderFakes(server, inputs);
    return fakes;
  }

  /** The models of a catalogue, one for each kind. */
  models(): object[] {
    return KINDS.map((kind) => {
      const { backend, base } = providerOf(kind);
      const url = `${this.server.url}/${kind}${base}`;
      return { id: `by-${kind}`, backends: [{ ...backend, url, model: 'claude-x' }] };
    });
  }

  /** The host of a provider, without the version of its API. */
  hostOf(kind: string): string {
    return `${this.server.url}/${kind}`;
  }

  /** The secrets that their backends name. */
  secrets(): Record<string, string> {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const account = {
      type: 'service_account',
      client_email: 'svc@shop.test',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      token_uri: `${this.server.url}/token`,
    };
    return { HOSTED_KEY: 'key-of-the-fakes', GOOGLE_ACCOUNT: JSON.stringify(account) };
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const body = await text(request);
    if (path === '/token') {
      response.end(JSON.stringify({ access_token: 'token', expires_in: 3_600 }));
      return;
    }
    const kind = path.split('/')[1] ?? '';
    const provider = providerOf(kind);
    const parsed = JSON.parse(body === '' ? '{}' : body) as Fields;
    if (!provider.isStream.test(path)) {
      response.writeHead(404).end('{}');
      return;
    }
    response.setHeader('content-type', provider.contentType);
    for (const event of provider.stream(this.stepOf(kind, parsed))) response.write(event);
    response.end();
  }

  private stepOf(kind: string, body: Fields): Step {
    const { toolsOf, hasResult } = providerOf(kind);
    if (hasResult(body)) this.completed.add(kind);
    const tool = hasResult(body) ? undefined : toolsOf(body).find((name) => this.inputs.has(name));
    return tool === undefined ? { text: doneBy(kind) } : { tool, input: this.inputs.get(tool) ?? {} };
  }
}

function providerOf(kind: string): Provider {
  const provider = PROVIDERS[kind];
  if (!provider) throw new Error(`there is no fake of ${kind}`);
  return provider;
}
