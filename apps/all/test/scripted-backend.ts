import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestServer } from '@svc/testing';

/** A scripted response: the chunks of a stream, or the body of a complete response; or a refusal. */
export interface Script {
  readonly status?: number;
  readonly chunks?: readonly object[];
  readonly answer?: object;
  /** Whether the connection breaks after its chunks. */
  readonly breaks?: boolean;
  /** Whether the stream ends without `[DONE]`. */
  readonly isUndone?: boolean;
  /** What precedes the body. */
  readonly before?: string;
}

/** How the next requests are rejected. */
interface Refusing {
  times: number;
  status: number;
  body: object;
  /** How long each rejection takes. */
  waitMs: number;
}

interface BackendRequest {
  readonly messages: { role: string; content: string }[];
  readonly tools?: { function: { name: string } }[];
}

/**
 * A backend whose responses are dictated by the last user message, for formats that no normal server sends.
 * Each tool result that follows the message selects the next of several scripts.
 */
export class ScriptedBackend {
  private constructor(
    private readonly server: TestServer,
    private readonly refusing: Refusing,
    /** The requests that it received, in order. */
    readonly requests: readonly BackendRequest[],
  ) {}

  static async start(): Promise<ScriptedBackend> {
    const refusing: Refusing = { times: 0, status: 503, body: {}, waitMs: 0 };
    const requests: BackendRequest[] = [];
    const server = await TestServer.start((request, response) => {
      // A check of its health.
      if (request.method === 'GET') {
        response.end('{}');
        return;
      }
      if (refusing.times > 0) {
        refusing.times -= 1;
        const { status, body, waitMs } = refusing;
        void sleep(waitMs).then(() => response.writeHead(status).end(JSON.stringify(body)));
        return;
      }
      void json(request).then((body) => {
        requests.push(body as BackendRequest);
        const { messages } = body as BackendRequest;
        const last = messages.findLastIndex(({ role }) => role === 'user');
        const script = JSON.parse(messages[last]?.content ?? '{}') as Script | Script[];
        const turn = messages.slice(last + 1).filter(isResult).length;
        const chosen = (Array.isArray(script) ? script[turn] : script) ?? {};
        const { status, chunks, answer, breaks, isUndone, before = '' } = chosen;
        if (status !== undefined) {
          response.writeHead(status).end('{}');
          return;
        }
        if (!chunks) {
          response.setHeader('content-type', 'application/json').end(before + JSON.stringify(answer));
          return;
        }
        response.setHeader('content-type', 'text/event-stream');
        response.write(before);
        for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
        if (breaks === true) response.write(': broken\n\n', () => response.destroy());
        else response.end(isUndone === true ? '' : 'data: [DONE]\n\n');
      });
    });
    return new ScriptedBackend(server, refusing, requests);
  }

  /** Rejects the next requests; by default as if at capacity. */
  refuse(
    times: number,
    { status = 503, body = {}, waitMs = 0 }: Partial<Omit<Refusing, 'times'>> = {},
  ): void {
    Object.assign(this.refusing, { times, status, body, waitMs });
  }

  /** The base URL of its API. */
  get url(): string {
    return `${this.server.url}/v1`;
  }

  close(): Promise<void> {
    return this.server.close();
  }
}

const isResult = ({ role }: { role: string }): boolean => role === 'tool';

/** The message that makes a scripted backend respond like this. */
export function scriptMessage(script: Script | readonly Script[]): { role: 'user'; content: string } {
  return { role: 'user', content: JSON.stringify(script) };
}
