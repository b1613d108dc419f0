import { type EventSourceParser, createParser } from 'eventsource-parser';
import { END_MARK, type Description, type Media, type StreamEvent, endsWithMark } from './description.js';

/** The only comment of a stream, by which it shows that it is alive. */
const KEEP_ALIVE = 'keep-alive';

/** Holds the text of a stream of events against its description, part by part. */
export class StreamCheck {
  private readonly parser: EventSourceParser;
  private readonly isMarked: boolean;
  private hasEnded = false;
  /** The beginning of a line. The parser reports an unknown field only if it gets the whole line. */
  private rest = '';
  /** The last characters: a whole event ends with an empty line. */
  private last = '\n\n';

  constructor(
    private readonly description: Description,
    private readonly media: Media,
    private readonly note: (faults: readonly string[]) => void,
  ) {
    this.isMarked = endsWithMark(media);
    this.parser = createParser({
      onEvent: ({ id, ...event }) => {
        if (id !== undefined) note(['event has an id']);
        this.see(event);
      },
      onComment: (comment) => comment !== KEEP_ALIVE && note([`stream has the comment ${comment}`]),
      onRetry: () => note(['stream has a time to reconnect']),
      onError: ({ message }) => note([`stream: ${message}`]),
    });
  }

  feed(text: string): void {
    this.last = (this.last + text).slice(-2);
    const all = this.rest + text;
    const lines = all.lastIndexOf('\n') + 1;
    this.rest = all.slice(lines);
    this.parser.feed(all.slice(0, lines));
  }

  /** Called for a stream that ends in an orderly way. */
  end(): void {
    if (this.last !== '\n\n') this.note(['stream ends within an event']);
    if (this.isMarked && !this.hasEnded) this.note([`stream ends without ${END_MARK}`]);
  }

  private see(event: StreamEvent): void {
    if (this.hasEnded) this.note([`stream goes on after ${END_MARK}`]);
    if (event.data === END_MARK) this.hasEnded = true;
    this.note(this.description.eventFaults(this.media, event));
  }
}
