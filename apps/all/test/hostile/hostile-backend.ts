import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { TestServer } from '@svc/testing';

/** A request to the backend, with its response. */
interface Exchange {
  readonly body: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * How a backend handles a request. If it does not end the response, the response stalls until the
 * connection is closed.
 */
export type Behaviour = (exchange: Exchange) => void | Promise<void>;

/** A backend whose behaviour tests control. */
export class HostileBackend {
  private constructor(
    private readonly server: TestServer,
    /** Handles the next requests. */
    public behave: Behaviour,
  ) {}

  static async start(behave: Behaviour = decent()): Promise<HostileBackend> {
    const server = await TestServer.start((request, response) => {
      // Many tests make the platform cut connections.
      response.on('error', () => undefined);
      void text(request)
        .then((body) => backend.behave({ body, request, response }))
        .catch(() => response.destroy());
    });
    const backend = new HostileBackend(server, behave);
    return backend;
  }

  /** The base URL of its API. */
  get url(): string {
    return `${this.server.url}/v1`;
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

const chunkOf = (choices: object[], rest: object = {}): string =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'x', choices, ...rest })}\n\n`;

/** A stream event with a part of the completion. */
export const piece = (content: string): string =>
  chunkOf([{ index: 0, delta: { content }, finish_reason: null }]);

/** The events that end a stream, with these counts if given. */
export function ending(usage?: object): string {
  const finish = chunkOf([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  return `${finish}${usage === undefined ? '' : chunkOf([], { usage })}data: [DONE]\n\n`;
}

/** The body of a complete response. */
export function whole(content: string, usage?: object): string {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  return JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'x', choices, usage });
}

/** Responds correctly, with this text and these counts. */
export function decent(
  content = 'hi',
  usage: object = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
): Behaviour {
  return ({ body, response }) => {
    const isStream = (JSON.parse(body) as { stream?: unknown }).stream === true;
    response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
    response.end(isStream ? `${piece(content)}${ending(usage)}` : whole(content, usage));
  };
}
