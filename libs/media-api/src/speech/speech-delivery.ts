import type { ChunkStream } from '@svc/contracts/inference';
import type { HeaderValues, ResponseWriter } from '@svc/paid/http';
import type { GatheredFile } from './gathered-bytes.js';

interface DeliveryParts {
  readonly source: ChunkStream;
  readonly client: ResponseWriter;
  /** Room for the whole file; undefined if it is streamed. */
  readonly room: GatheredFile | undefined;
}

/**
 * Passes a file from a backend to its client: as it arrives, or whole once it is complete and charged. A file
 * that does not fit into memory is streamed as well.
 */
export class SpeechDelivery {
  private gathered: Uint8Array[] = [];
  private isBegun = false;

  constructor(private readonly parts: DeliveryParts) {}

  /** Whether the client has received bytes, so that the request is charged even if it disconnects. */
  get hasBegun(): boolean {
    return this.isBegun;
  }

  /** Reads until the end of the file or until the client disconnects, which also closes the backend call. */
  async read(): Promise<void> {
    const { source, client, room } = this.parts;
    for await (const bytes of source.bytes) {
      const size = bytes.reduce((sum, { length }) => sum + length, 0);
      if (!this.isBegun && room?.fits(size) === true) {
        this.gathered.push(...bytes);
        continue;
      }
      this.begin();
      await client.writeBytes([...this.gathered, ...bytes]);
      this.gathered = [];
      if (client.isGone) return;
    }
  }

  /** Ends the response. Sends the file, if it was gathered. */
  async end(): Promise<void> {
    const { client } = this.parts;
    if (this.isBegun) {
      client.endFile();
      return;
    }
    this.isBegun = true;
    const length = this.gathered.reduce((sum, bytes) => sum + bytes.length, 0);
    await client.sendFile({ ...this.headers, 'content-length': length }, this.gathered);
  }

  private begin(): void {
    if (this.isBegun) return;
    this.isBegun = true;
    this.parts.client.beginFile(this.headers);
  }

  private get headers(): HeaderValues {
    const type = this.parts.source.contentType ?? 'application/octet-stream';
    return { 'content-type': type, 'x-content-type-options': 'nosniff' };
  }
}
