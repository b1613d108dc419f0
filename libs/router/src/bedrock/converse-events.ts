import { isFields, unusable } from '@svc/contracts/inference';
import { jsonOrUndefined } from '@svc/runtime';
import { DATA } from '../chat/backend-events.js';
import { textIn } from '../chat/backend-json.js';
import { type EventFrame, EventFrames } from './event-frames.js';

/**
 * The binary events of a stream as server-sent events, which is what responses are passed on as: the data is
 * an object with the type of the event and its payload, or with `error`.
 */
export class ConverseEvents {
  private readonly frames = new EventFrames();

  read(parts: readonly Buffer[]): readonly Buffer[] {
    const texts = parts.flatMap((part) => this.frames.read(part).map(textOf));
    return texts.length === 0 ? [] : [Buffer.from(texts.join(''))];
  }

  /** Throws if the stream ends within an event. */
  end(): void {
    if (this.frames.isWithin) throw unusable('the stream ended within an event');
  }
}

function textOf({ headers, payload }: EventFrame): string {
  const type = headers.get(':event-type') ?? '';
  // A line end is white space between the parts of a value, and nothing else in JSON.
  const line = payload.replaceAll(/[\r\n]+/g, ' ');
  if (headers.get(':message-type') === 'event') return `${DATA}{${JSON.stringify(type)}:${line}}\n\n`;
  const body = jsonOrUndefined(payload);
  const error = {
    type: headers.get(':exception-type') ?? headers.get(':error-code') ?? 'error',
    message: headers.get(':error-message') ?? (isFields(body) ? textIn(body['message']) : ''),
  };
  return `${DATA}${JSON.stringify({ error })}\n\n`;
}
