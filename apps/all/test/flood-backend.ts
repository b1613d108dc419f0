import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { TestServer } from '@svc/testing';

/** Events per write to the socket. */
const BATCH = 100;

/** The progress of one of these responses. */
export interface Flood {
  /** Bytes written to the connection. */
  writtenBytes: number;
  /** Whether the connection ended before the response did. */
  cut: boolean;
}

/** A backend that streams a long completion of numbered chunks as fast as it is read. */
export class FloodBackend {
  readonly floods: Flood[] = [];

  private constructor(
    private readonly server: TestServer,
    readonly chunks: number,
    private readonly filler: string,
  ) {}

  static async start(size: { chunks: number; bytesPerChunk: number }): Promise<FloodBackend> {
    const server = await TestServer.start((request, response) => {
      request.resume();
      void backend.flood(response);
    });
    const backend = new FloodBackend(server, size.chunks, '.'.repeat(size.bytesPerChunk));
    return backend;
  }

  /** The base URL of its API. */
  get url(): string {
    return `${this.server.url}/v1`;
  }

  close(): Promise<void> {
    return this.server.close();
  }

  private async flood(response: ServerResponse): Promise<void> {
    const flood: Flood = { writtenBytes: 0, cut: false };
    this.floods.push(flood);
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    response.setHeader('content-type', 'text/event-stream');
    try {
      for (let at = 0; at < this.chunks; at += BATCH) {
        const events = this.events(at, Math.min(at + BATCH, this.chunks));
        if (!response.write(events)) await once(response, 'drain', { signal: closed.signal });
        flood.writtenBytes += events.length;
      }
      const usage = { prompt_tokens: 5, completion_tokens: this.chunks, total_tokens: this.chunks + 5 };
      response.end(
        `${this.event({}, 'stop')}data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`,
      );
    } catch {
      flood.cut = true;
    }
  }

  private events(from: number, to: number): string {
    let text = '';
    for (let number = from; number < to; number += 1)
      text += this.event({ content: `${number}${this.filler}` }, null);
    return text;
  }

  private event(delta: object, reason: string | null): string {
    const choices = [{ index: 0, delta, finish_reason: reason }];
    return `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'flood', choices })}\n\n`;
  }
}
