import { Readable } from 'node:stream';
import {
  Chat,
  type ChatCall,
  type ChatResponse,
  type ChunkStream,
  type Completion,
  type Piece,
  type PromptCount,
  type Repetitions,
  type ResponseFacts,
  type Served,
} from '@svc/contracts/inference';
import { eventsOf, isDocument } from './backend-events.js';
import type { PieceReader } from './piece-reader.js';

/** The reader of a response in the dialect of a kind of backend; without a kind, in that of OpenAI. */
type ReaderOf = (
  kind: string | undefined,
  reading: { readonly isEncrypted: boolean; readonly isOriginal: boolean },
) => PieceReader;

/** Chats as their backends write them, in this process or another. */
interface WrittenChats {
  complete(call: ChatCall, signal: AbortSignal): Promise<Completion>;
  stream(call: ChatCall, signal: AbortSignal): Promise<ChunkStream>;
  count(call: ChatCall, signal: AbortSignal): Promise<Served<PromptCount>>;
}

/**
 * Chats whose responses are read where they are used: between processes they cross as the bytes of the
 * backend, with the kind of its dialect, and within one process nothing is written and read again.
 */
export class ReadChats extends Chat {
  constructor(
    private readonly written: WrittenChats,
    private readonly readerOf: ReaderOf,
  ) {
    super();
  }

  override complete(call: ChatCall, signal: AbortSignal): Promise<ChatResponse> {
    return this.written.complete(call, signal).then((source) => this.read(call, source));
  }

  override stream(call: ChatCall, signal: AbortSignal): Promise<ChatResponse> {
    return this.written.stream(call, signal).then((source) => this.read(call, source));
  }

  override count(call: ChatCall, signal: AbortSignal): Promise<Served<PromptCount>> {
    return this.written.count(call, signal);
  }

  private read({ encryption, original }: ChatCall, source: Completion | ChunkStream): ChatResponse {
    const reading = { isEncrypted: encryption !== undefined, isOriginal: original !== undefined };
    return new ReadResponse(source, this.readerOf(source.dialect, reading));
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
