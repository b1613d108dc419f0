import {
  type ExtractedText,
  ExtractionFailed,
  ExtractionReply,
  FILE_HEADER,
  Retrieval,
  type SourceFile,
  decodeExtraction,
  encodeFileHead,
} from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { InternalClient, type NeighbourAddress } from '@svc/runtime';
import type { RetrievalClientConfig } from '../retrieval.config.js';
import { workerReply } from './worker-reply.js';

/** Time for the transfer and for a free thread, beyond reading the file. */
const MARGIN_MS = 5_000;

export type HttpRetrievalSettings = Omit<NeighbourAddress, 'url'> & RetrievalClientConfig;

/** Reads files in another process. If a process breaks off, another one is called. */
export class HttpRetrieval extends Retrieval {
  /** Without a client it creates its own. */
  constructor(
    private readonly settings: HttpRetrievalSettings,
    private readonly client = new InternalClient({ ...settings, url: settings.RETRIEVAL_URL }),
  ) {
    super();
  }

  override async extractText(file: SourceFile, signal?: AbortSignal): Promise<ExtractedText> {
    const call = {
      path: routes.extractText.path,
      headers: { 'content-type': routes.extractText.bodyType, [FILE_HEADER]: encodeFileHead(file) },
      body: file.bytes,
      deadlineMs: this.settings.RETRIEVAL_TIMEOUT_MS + MARGIN_MS,
      idempotent: true,
      ...(signal && { signal }),
    };
    const reply = await workerReply(this.client, call, () => new ExtractionFailed(AWAY, true));
    return decodeExtraction(ExtractionReply.parse(reply));
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

const AWAY = 'files cannot be read at the moment';
