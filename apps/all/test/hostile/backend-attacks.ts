import { type Behaviour, ending, piece } from './hostile-backend.js';

/** The allowed results for a client: a completion, or one of these problems, as a status or in a stream. */
export type Outcome = 'answer' | 'INFERENCE_FAILED' | 'REQUEST_TIMEOUT' | 'MODEL_AT_CAPACITY';

/** One misbehaviour of a backend. */
export interface Attack {
  readonly name: string;
  readonly behave: Behaviour;
  /** Whether the client requests a stream. By default both are tried. */
  readonly stream?: boolean;
  readonly outcomes: readonly Outcome[];
  /** Text that a completion must contain. */
  readonly says?: string;
  /** Text that it must not contain. */
  readonly hides?: string;
}

export const USAGE = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };

export const FAILS: readonly Outcome[] = ['INFERENCE_FAILED'];
export const LATE: readonly Outcome[] = ['REQUEST_TIMEOUT'];
export const ENDS: readonly Outcome[] = ['INFERENCE_FAILED', 'REQUEST_TIMEOUT'];
export const ANSWERS: readonly Outcome[] = ['answer'];

const isStream = (body: string): boolean => (JSON.parse(body) as { stream?: unknown }).stream === true;

export const raw =
  (text: string, end = true): Behaviour =>
  ({ response }) => {
    response.socket?.write(text);
    if (end) response.socket?.end();
  };

export const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n';

/** Responds with a stream of these bytes, or with this complete body. */
export const sends =
  (
    stream: string | Buffer,
    body: string | Buffer = stream,
    headers: Record<string, string> = {},
  ): Behaviour =>
  ({ body: request, response }) => {
    response.writeHead(200, {
      'content-type': isStream(request) ? 'text/event-stream' : 'application/json',
      ...headers,
    });
    response.end(isStream(request) ? stream : body);
  };

export const streams = (text: string | Buffer): Behaviour => sends(text, '{}');

export const deltas = (delta: object, index: unknown = 0): string =>
  `data: ${JSON.stringify({ choices: [{ index, delta, finish_reason: null }] })}\n\n`;

export const TEXT = piece('one ') + piece('two ') + piece('three');
export const GOOD = TEXT + ending(USAGE);
