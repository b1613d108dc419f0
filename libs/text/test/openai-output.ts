import type { ChatResponse, ChunkStream, Completion } from '@svc/contracts/inference';
import { OpenAiReader, ReadResponse } from '@svc/router/testing';
import type { ChoicePiece } from '../src/output/assembled-choice.js';
import { type NormaliserOptions, OutputNormaliser } from '../src/output/normaliser.js';

/** The response of a backend with OpenAI's API, and what clients get of it. */
export class OpenAiOutput {
  readonly normaliser: OutputNormaliser;
  private readonly reader: OpenAiReader;

  constructor(how: Omit<NormaliserOptions, 'facts'>) {
    this.reader = new OpenAiReader(how.isEncrypted === true);
    this.normaliser = new OutputNormaliser({ ...how, facts: this.reader });
  }

  /** Reads a body, or the data of one event. */
  read(text: string): ChoicePiece[] {
    return this.normaliser.read(this.reader.read(text));
  }

  /** The response to a chat that consists of this. */
  responseOf(source: ChunkStream | Completion): ChatResponse {
    return new ReadResponse(source, this.reader);
  }
}
