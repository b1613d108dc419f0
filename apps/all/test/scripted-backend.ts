import { json } from 'node:stream/consumers';
import { TestServer } from '@svc/testing';

/** What a scripted backend answers: the chunks of a stream, or the body of a whole answer; or a refusal. */
export interface Script {
  readonly status?: number;
  readonly chunks?: readonly object[];
  readonly answer?: object;
  /** Whether the connection breaks behind its chunks. */
  readonly breaks?: boolean;
}

/** How the next requests are rejected. */
interface Refusing {
  times: number;
  status: number;
  body: object;
}

interface Asked {
  readonly messages: { role: string; content: string }[];
  readonly tools?: { function: { name: string } }[];
}

/**
 * A backend that answers what the last message of a user tells it to, for forms that no decent server sends: by the next
 * of several scripts for each tool's result that follows it.
 */
export class ScriptedBackend {
  private constructor(
    private readonly server: TestServer,
    private readonly refusing: Refusing,
    /** What it was asked, in order. */
    readonly asked: readonly Asked[],
  ) {}

  static async start(): Promise<ScriptedBackend> {
    const refusing: Refusing = { times: 0, status: 503, body: {} };
    const asked: Asked[] = [];
    const server = await TestServer.start((request, response) => {
      if (refusing.times > 0) {
        refusing.times -= 1;
        response.writeHead(refusing.status).end(JSON.stringify(refusing.body));
        return;
      }
      void json(request).then((body) => {
        asked.push(body as Asked);
        const { messages } = body as Asked;
        const last = messages.findLastIndex(({ role }) => role === 'user');
        const script = JSON.parse(messages[last]?.content ?? '{}') as Script | Script[];
        const turn = messages.slice(last + 1).filter(isResult).length;
        const { status, chunks, answer, breaks } = (Array.isArray(script) ? script[turn] : script) ?? {};
        if (status !== undefined) {
          response.writeHead(status).end('{}');
          return;
        }
        if (!chunks) {
          response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
          return;
        }
        response.setHeader('content-type', 'text/event-stream');
        for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
        if (breaks === true) response.write(': broken\n\n', () => response.destroy());
        else response.end('data: [DONE]\n\n');
      });
    });
    return new ScriptedBackend(server, refusing, asked);
  }

  /** Rejects the next requests; by default as a server at capacity does. */
  refuse(times: number, { status = 503, body = {} }: Partial<Omit<Refusing, 'times'>> = {}): void {
    Object.assign(this.refusing, { times, status, body });
  }

  /** The base of its API. */
  get url(): string {
    return `${this.server.url}/v1`;
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

const isResult = ({ role }: { role: string }): boolean => role === 'tool';

/** The message that makes a scripted backend answer so. */
export function scriptMessage(script: Script | readonly Script[]): { role: 'user'; content: string } {
  return { role: 'user', content: JSON.stringify(script) };
}
