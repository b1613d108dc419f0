import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** What a scripted backend answers: the chunks of a stream, or the body of a whole answer. */
export interface Script {
  readonly chunks?: readonly object[];
  readonly answer?: object;
}

/** A backend that answers what the last message of a request tells it to, for forms that no decent server sends. */
export class ScriptedBackend {
  private constructor(private readonly server: Server) {}

  static async start(): Promise<ScriptedBackend> {
    const server = createServer((request, response) => {
      void json(request).then((body) => {
        const { messages } = body as { messages: { content: string }[] };
        const { chunks, answer } = JSON.parse(messages.at(-1)?.content ?? '{}') as Script;
        if (!chunks) {
          response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
          return;
        }
        response.setHeader('content-type', 'text/event-stream');
        for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
        response.end('data: [DONE]\n\n');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ScriptedBackend(server);
  }

  /** The base of its API. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

/** The message that makes a scripted backend answer so. */
export function scriptMessage(script: Script): { role: 'user'; content: string } {
  return { role: 'user', content: JSON.stringify(script) };
}
