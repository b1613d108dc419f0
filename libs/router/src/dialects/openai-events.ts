import { StringDecoder } from 'node:string_decoder';
import type { Exchange } from '@svc/runtime';
import { type EventSourceMessage, createParser } from 'eventsource-parser';
import { BackendError } from './backend-error.js';
import { errorStatus } from './openai-errors.js';

/** The first event is parsed only up to this size; errors are smaller. */
const LOOK_LIMIT_BYTES = 64 * 1024;

/**
 * Reads a stream up to its first event, so that if a backend starts with an error, or never starts, another
 * one can be called. Returns all bytes that arrived. Throws BackendError, or Error if there is no response.
 */
export async function firstEvent(exchange: Exchange): Promise<readonly Buffer[]> {
  const bytes: Buffer[] = [];
  const look = new FirstLook();
  let size = 0;
  while (!look.event && size < LOOK_LIMIT_BYTES) {
    const arrived = await exchange.read();
    if (arrived.length === 0) {
      look.end();
      if (!look.event) throw withoutEvents(bytes);
    }
    for (const part of arrived) {
      size += part.length;
      bytes.push(part);
      look.read(part);
    }
  }
  if (look.event) refuseError(look.event);
  return bytes;
}

class FirstLook {
  event: EventSourceMessage | undefined;
  private readonly decoder = new StringDecoder('utf8');
  private readonly parser = createParser({
    onEvent: (event) => {
      if (event.data !== '') this.event ??= event;
    },
  });

  read(part: Buffer): void {
    if (!this.event) this.parser.feed(this.decoder.write(part));
  }

  end(): void {
    this.parser.feed('\n\n');
  }
}

function refuseError({ event, data }: EventSourceMessage): void {
  if (data === '[DONE]') throw new Error('the stream was empty');
  const status = event === 'error' ? (errorStatus(data) ?? 500) : errorStatus(data);
  if (status !== undefined) throw new BackendError(status, data);
}

/** A backend may respond to a streaming request with a plain error body. */
function withoutEvents(bytes: readonly Buffer[]): Error {
  const text = Buffer.concat(bytes).toString('utf8');
  const status = errorStatus(text);
  return status === undefined ? new Error('the stream was empty') : new BackendError(status, text);
}
