import { json } from 'node:stream/consumers';
import { TestServer } from '@svc/testing';

/** How a backend responds: with an error, or with a completion. */
type Reply = { readonly status: number; readonly body: object } | 'completion' | 'filtered';

/** What a backend has received. */
interface ReceivedChat {
  readonly model: string;
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly [member: string]: unknown;
}

/** A model server whose models respond as a test says, by the names that they have there. */
export class FallbackBackend {
  readonly received: ReceivedChat[] = [];
  private readonly repliesBy = new Map<string, Reply>();

  private constructor(private server: TestServer | undefined) {}

  static async start(): Promise<FallbackBackend> {
    const backend = new FallbackBackend(undefined);
    backend.server = await TestServer.start((request, response) => {
      // A check of its health.
      if (request.method === 'GET') {
        response.end('{}');
        return;
      }
      void json(request).then((body) => {
        const chat = body as ReceivedChat;
        backend.received.push(chat);
        const reply = backend.repliesBy.get(chat.model) ?? 'completion';
        if (typeof reply === 'object') {
          response.writeHead(reply.status, { 'content-type': 'application/json' });
          response.end(JSON.stringify(reply.body));
          return;
        }
        const usage = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
        const reason = reply === 'filtered' ? 'content_filter' : 'stop';
        const content = reply === 'filtered' ? '' : 'one two three four';
        if (chat.stream !== true) {
          const message = { role: 'assistant', content };
          const choices = [{ index: 0, message, finish_reason: reason }];
          response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices, usage }));
          return;
        }
        response.setHeader('content-type', 'text/event-stream');
        const choice = { index: 0, delta: { role: 'assistant', content }, finish_reason: null };
        const end = { index: 0, delta: {}, finish_reason: reason };
        for (const event of [{ choices: [choice] }, { choices: [end] }, { choices: [], usage }])
          response.write(`data: ${JSON.stringify(event)}\n\n`);
        response.end('data: [DONE]\n\n');
      });
    });
    return backend;
  }

  /** From now on a model responds like this. */
  replies(model: string, reply: Reply): void {
    this.repliesBy.set(model, reply);
  }

  get url(): string {
    return `${this.server?.url}/v1`;
  }

  async close(): Promise<void> {
    await this.server?.close();
  }
}
