import { type IncomingMessage, type RequestListener, createServer, request } from 'node:http';
import { type Duplex, duplexPair } from 'node:stream';
import { type DynamicModule, Module } from '@nestjs/common';
import { type InnerSender, markInner } from '../calls/inner-senders.js';
import { within } from '../within.js';
import { SERVER_OPTIONS } from './http-adapter.js';

export interface InnerCall {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: Uint8Array;
  /** The most bytes of the response. */
  readonly limitBytes: number;
  readonly deadlineMs: number;
  /** When aborted, the caller leaves, as a client that disconnects. */
  readonly signal?: AbortSignal;
}

export interface InnerResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/**
 * Requests of this process to its own API, over connections in memory. They go through the same stages as
 * those of clients, with a caller that is already known.
 */
export class InnerCalls {
  private readonly server;

  constructor(handle: RequestListener) {
    this.server = createServer(SERVER_OPTIONS, handle);
  }

  /** Rejects if the response does not come in time, or is too large, or the caller leaves. */
  async post(sender: InnerSender, call: InnerCall): Promise<InnerResponse> {
    const [ours, theirs] = duplexPair();
    markInner(theirs, sender);
    asSocket(theirs);
    this.server.emit('connection', theirs);
    try {
      return await within(call.deadlineMs, exchange(ours, call));
    } finally {
      ours.destroy();
      theirs.destroy();
    }
  }
}

function exchange(connection: Duplex, call: InnerCall): Promise<InnerResponse> {
  return new Promise((resolve, reject) => {
    const { path, headers, body, limitBytes, signal } = call;
    const sent = request({
      method: 'POST',
      path,
      host: 'localhost',
      createConnection: () => connection,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length },
      ...(signal && { signal }),
    });
    sent.once('error', reject);
    sent.once('response', (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes > limitBytes) sent.destroy(new RangeError(`the response has over ${limitBytes} bytes`));
        else parts.push(part);
      });
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode: status = 0, headers: received } = response;
        resolve({ status, headers: received, body: Buffer.concat(parts, bytes) });
      });
    });
    sent.end(body);
  });
}

/** What the stages of a request expect of a connection. */
function asSocket(connection: Duplex): void {
  const nothing = (): Duplex => connection;
  Object.assign(connection, { remoteAddress: '127.0.0.1', setNoDelay: nothing, bytesRead: 0 });
}

/** Provides the inner calls of a process. */
@Module({})
export class InnerCallsModule {
  static of(calls: InnerCalls): DynamicModule {
    return {
      module: InnerCallsModule,
      global: true,
      providers: [{ provide: InnerCalls, useValue: calls }],
      exports: [InnerCalls],
    };
  }
}
