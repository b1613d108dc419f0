import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Problem, type ProblemCode, errorBody } from '@svc/contracts/problems';
import type { Incoming } from './incoming.js';
import type { Logger } from '../logging/logging.js';
import { VERSION } from '../version.js';
import { newId } from './request-id.js';
import { HOST_NAME } from './send-problem.js';

/** Problems for what Node's parser rejects, by error code. */
const BY_CODE: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_INCOMPLETE',
};

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  431: 'Request Header Fields Too Large',
};

type Refuse = (error: Error, socket: Socket) => void;

/** Responds to a malformed HTTP request with the error envelope, and closes its connection. */
function refuseMalformed(logger: Logger): Refuse {
  return (error, socket) => {
    const code = 'code' in error ? String(error.code) : '';
    if (code === 'ECONNRESET' || !isFree(socket)) {
      socket.destroy();
      return;
    }
    const problem = new Problem(BY_CODE[code] ?? 'MALFORMED_REQUEST', { cause: error });
    const id = `req-${newId()}`;
    logger.info(
      { id, route: 'none', status: problem.status, problem: problem.code, reason: code },
      'request',
    );
    socket.end(response(problem, id));
  };
}

/** The same for all connections of a server. */
export function refuseMalformedOn(server: Server, logger: Logger): void {
  const refuse = refuseMalformed(logger);
  server.on('clientError', (error, socket) => refuse(error, socket as Socket));
}

/**
 * Rejects with the error envelope what Node would reject with an empty response, or by closing the
 * connection.
 */
export function refuseUnsupportedOn(server: Server, handle: RequestListener, logger: Logger): void {
  // The first hook rejects it.
  server.on('checkExpectation', handle);
  server.on('connect', (_request, stream) => {
    const socket = stream as Socket;
    // A socket handed over for a tunnel has no other error listener.
    socket.on('error', () => socket.destroy());
    refuseMalformed(logger)(new Error('CONNECT'), socket);
    socket.destroySoon();
  });
}

/** Checks the headers that every request must have, or must not have. */
export function headerFault({ headers, raw }: Incoming): Problem | undefined {
  if (!headers.host && raw.httpVersion === '1.1') return new Problem('MALFORMED_REQUEST');
  if (headers.expect === undefined || /^100-continue$/i.test(headers.expect)) return undefined;
  return new Problem('MALFORMED_REQUEST', { message: 'The only supported expectation is `100-continue`.' });
}

/** Whether the connection has no response in progress, which the written bytes would become part of. */
function isFree(socket: Socket): boolean {
  const { _httpMessage: underWay } = socket as Socket & { _httpMessage?: ServerResponse | null };
  return socket.writable && !underWay?.headersSent;
}

function response(problem: Problem, id: string): string {
  const body = JSON.stringify(errorBody(problem));
  const headers = {
    'x-svc-version': VERSION,
    'CF-RAY': id,
    'x-request-id': id,
    'x-svc-host-name': HOST_NAME,
    Date: new Date().toUTCString(),
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.status} ${REASONS[problem.status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}
