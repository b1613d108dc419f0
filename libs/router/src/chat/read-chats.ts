import { Readable } from 'node:stream';
import {
  Chat,
  type ChatCall,
  type ChatResponse,
  type ChunkStream,
  type Completion,
  type Piece,
  type Repetitions,
  type ResponseFacts,
  unusable,
} from '@svc/contracts/inference';
import { eventsOf, isDocument } from './backend-events.js';
import { OpenAiReader } from './openai-reader.js';
import type { PieceReader } from './piece-reader.js';

/** Makes the reader of a response. `isEncrypted` is whether its texts are encrypted. */
type MakeReader = (isEncrypted: boolean) => PieceReader;

/** The readers of the dialects in which backends respond to chats, by the names between processes. */
const READERS: Record<string, MakeReader> = {
  openai: (isEncrypted) => new OpenAiReader(isEncrypted),
};

/** The reader for a dialect; without a name, for OpenAI's. */
function readerOf(name: string | undefined, isEncrypted: boolean): PieceReader {
  const make = READERS[name ?? 'openai'];
  // A router of a later release.
  if (!make) throw unusable(`the response is in the dialect ${name}, which is not known here`);
  return make(isEncrypted);
}

/** Chats as their backends write them, in this process or another. */
interface WrittenChats {
  complete(call: ChatCall, signal: AbortSignal): Promise<Completion>;
  stream(call: ChatCall, signal: AbortSignal): Promise<ChunkStream>;
}

/**
 * Chats whose responses are read where they are used: between processes they cross as the bytes of the
 * backend, with the name of its dialect, and within one process nothing is written and read again.
 */
export class ReadChats extends Chat {
  constructor(private readonly written: WrittenChats) {
    super();
  }

  override async complete(call: ChatCall, signal: AbortSignal): Promise<ChatResponse> {
    return this.read(call, await this.written.complete(call, signal));
  }

  override async stream(call: ChatCall, signal: AbortSignal): Promise<ChatResponse> {
    return this.read(call, await this.written.stream(call, signal));
  }

  private read({ encryption }: ChatCall, source: Completion | ChunkStream): ChatResponse {
    return new ReadResponse(source, readerOf(source.dialect, encryption !== undefined));
  }
}

/** The response to a chat, read from what a backend sent. */
export class ReadResponse implements ChatResponse {
  readonly backend: string;
  readonly retries: number;

  constructor(
    private readonly source: Completion | ChunkStream,
    private readonly reader: PieceReader,
  ) {
    this.backend = source.backend;
    this.retries = source.retries;
  }

  get facts(): ResponseFacts {
    return this.reader;
  }

  get repetitions(): Repetitions | undefined {
    return this.reader.repetitions;
  }

  arrivals({
    idleTimeoutMs,
    onRepetition,
  }: Parameters<ChatResponse['arrivals']>[0]): ReturnType<ChatResponse['arrivals']> {
    const { source, reader } = this;
    if ('body' in source && isDocument(source.body)) return [source.body];
    // Some backends stream whatever they are asked for.
    const streamed = 'body' in source ? { bytes: Readable.from([[Buffer.from(source.body)]]) } : source;
    const events = eventsOf(streamed, { idleTimeoutMs, isComplete: () => reader.isFinished });
    const { repetitions } = reader;
    if (onRepetition && repetitions) events.offerTo((part) => repetitions.offer(part, onRepetition));
    return events;
  }

  read(event: string): readonly Piece[] {
    return this.reader.read(event);
  }
}
