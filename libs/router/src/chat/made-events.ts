import type { ByteSource } from '@svc/backend-calls';

/** Makes server-sent events of the bytes of one stream. */
export interface EventMaker {
  /** The bytes of the events that these bytes end. */
  read(parts: readonly Buffer[]): readonly Buffer[];
  /** Throws if the bytes ended within an event. */
  end(): void;
}

/** A response whose bytes are events of another form, as server-sent events. */
export class MadeEvents implements ByteSource {
  constructor(
    private readonly source: ByteSource,
    private readonly maker: EventMaker,
  ) {}

  get trailers(): ByteSource['trailers'] {
    return this.source.trailers;
  }

  async read(): Promise<readonly Buffer[]> {
    for (;;) {
      const arrived = await this.source.read();
      if (arrived.length === 0) {
        this.maker.end();
        return arrived;
      }
      const events = this.maker.read(arrived);
      if (events.length > 0) return events;
    }
  }

  abort(error?: Error): void {
    this.source.abort(error);
  }

  /** What arrives cannot be used before it is read. */
  offerTo(): void {
    return undefined;
  }
}
