import { StringDecoder } from 'node:string_decoder';
import { BackendError, begins, errorStatus } from '@svc/backend-calls';
import type { Exchange } from '@svc/runtime';
import { type EventSourceMessage, createParser } from 'eventsource-parser';
import type { ChatDialect } from './dialect.js';

/** The first part of a body up to this size is joined with the prefix. */
const JOINED_BYTES = 262_144;

/** Longer bodies are not errors and are not parsed. */
const ERROR_LIMIT_BYTES = 64 * 1024;

/** A stream is parsed only up to this size; errors are smaller. */
const LOOK_LIMIT_BYTES = 64 * 1024;

/** Every completion has choices; the gateway checks the rest when it reads them. */
const CHOICES = /"choices"\s*:\s*\[\s*\{/;

export const chat: ChatDialect = {
  request(own, [first = new Uint8Array(), ...others]) {
    const head = Buffer.from(`${JSON.stringify(own).slice(0, -1)},`);
    const rest = first.subarray(1);
    const begin = rest.length > JOINED_BYTES ? [head, rest] : [Buffer.concat([head, rest])];
    return { path: '/chat/completions', body: [...begin, ...others] };
  },

  checkCompletion(body) {
    const status = body.length > ERROR_LIMIT_BYTES ? undefined : errorStatus(body);
    if (status !== undefined) throw new BackendError(status, body);
    if (!CHOICES.test(body)) throw new Error('the response has no choices');
  },

  firstEvent,
};

/**
 * Reads a stream up to the first event that says something, so that if a backend starts with an error, fails
 * before that, or never starts, another one can be called. Returns all bytes that arrived. Throws
 * BackendError, or Error if there is no response. A backend may also respond with a complete completion.
 */
async function firstEvent(exchange: Exchange): Promise<readonly Buffer[]> {
  const bytes: Buffer[] = [];
  const look = new FirstLook();
  let size = 0;
  while (!look.isOver && size < LOOK_LIMIT_BYTES) {
    const arrived = await exchange.read();
    if (arrived.length === 0) {
      look.end();
      if (!look.hasEvents) refuseOther(bytes);
      break;
    }
    for (const part of arrived) {
      size += part.length;
      bytes.push(part);
      look.read(part);
    }
  }
  return bytes;
}

/** Throws at the first event with a failure. */
class FirstLook {
  hasEvents = false;
  isOver = false;
  private readonly decoder = new StringDecoder('utf8');
  private readonly parser = createParser({
    onEvent: (event) => {
      if (event.data !== '' && !this.isOver) this.look(event);
    },
  });

  read(part: Buffer): void {
    if (!this.isOver) this.parser.feed(this.decoder.write(part));
  }

  end(): void {
    if (!this.isOver) this.parser.feed('\n\n');
  }

  private look({ event, data }: EventSourceMessage): void {
    if (data === '[DONE]' && !this.hasEvents) throw new Error('the stream was empty');
    const status = errorStatus(data, true) ?? (event === 'error' ? 500 : undefined);
    if (status !== undefined) throw new BackendError(status, data);
    this.hasEvents = true;
    this.isOver = data === '[DONE]' || begins(data);
  }
}

/** Throws unless a response without events is a completion. */
function refuseOther(bytes: readonly Buffer[]): void {
  const text = Buffer.concat(bytes).toString('utf8');
  const status = errorStatus(text);
  if (status !== undefined) throw new BackendError(status, text);
  if (!CHOICES.test(text)) throw new Error('the stream was empty');
}
