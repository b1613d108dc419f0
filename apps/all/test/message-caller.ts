import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream';
import type { Cost } from './response-bodies.js';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly signature?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly content?: unknown;
}

export interface Message {
  readonly content: Block[];
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly usage: Readonly<Record<string, number | object | null>>;
  readonly cost: Cost;
  readonly svc_parameters: Readonly<Record<string, unknown>>;
}

export interface Completion {
  readonly choices: {
    readonly finish_reason: string;
    readonly message: {
      readonly content: string | null;
      readonly reasoning_content: string | null;
      readonly tool_calls?: { readonly function: { readonly name: string; readonly arguments: string } }[];
    };
  }[];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details: { readonly cached_tokens: number };
  };
  readonly cost: Cost;
}

export interface Failure {
  readonly type: string;
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly details: { readonly issues?: { readonly path: unknown[] }[] };
  };
  readonly request_id: string;
}

/** The message of a request that has no others. */
export const HI = { role: 'user', content: 'Reply exactly: hi' };

/** Sends messages as they are, without the SDK's help. */
export class MessageCaller {
  constructor(
    private readonly apiUrl: string,
    private readonly apiKey: string,
  ) {}

  post(path: string, body: object | string, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.apiUrl}${path}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'x-api-key': this.apiKey, 'content-type': 'application/json', ...headers },
    });
  }

  /** The events of a message, and the message that the SDK makes of them. */
  async streamed(body: object): Promise<{ names: string[]; message: Message }> {
    const response = await this.post('/messages', {
      model: 'plain',
      max_tokens: 100,
      messages: [HI],
      ...body,
      stream: true,
    });
    assert.equal(response.status, 200);
    const events = (await response.text()).split('\n\n').filter((event) => event !== '');
    const parsed = events.map((event) => {
      const [name = '', data = ''] = event.split('\n');
      const value = JSON.parse(data.slice('data: '.length)) as { type: string };
      assert.equal(name, `event: ${value.type}`);
      return value;
    });
    const lines = parsed.filter(({ type }) => type !== 'ping').map((event) => `${JSON.stringify(event)}\n`);
    const source = Readable.toWeb(Readable.from(lines.map((line) => Buffer.from(line))));
    const final = await MessageStream.fromReadableStream(source as ReadableStream).finalMessage();
    const last = parsed.at(-2) as unknown as Message;
    return {
      names: parsed.map(({ type }) => type),
      message: { ...(final as unknown as Message), cost: last.cost, svc_parameters: last.svc_parameters },
    };
  }

  async whole(body: object): Promise<Message> {
    const response = await this.post('/messages', {
      model: 'plain',
      max_tokens: 100,
      messages: [HI],
      ...body,
    });
    assert.equal(response.status, 200, await response.clone().text());
    return (await response.json()) as Message;
  }

  async refusal(body: object, status = 400): Promise<Failure> {
    const response = await this.post('/messages', {
      model: 'plain',
      max_tokens: 100,
      messages: [HI],
      ...body,
    });
    assert.equal(response.status, status);
    const failure = (await response.json()) as Failure;
    assert.equal(failure.request_id, response.headers.get('request-id'));
    assert.equal(failure.type, 'error');
    return failure;
  }
}
