import {
  type ExtractedText,
  ExtractionFailed,
  ExtractionReply,
  FILE_HEADER,
  Retrieval,
  type SourceFile,
  decodeExtraction,
  encodeFileHead,
  routes,
} from '@svc/contracts';
import { InternalClient, type NeighbourAddress } from '@svc/runtime';
import type { RetrievalClientConfig } from '../retrieval.config.js';
import { workerReply } from './worker-reply.js';

/** Beyond reading a file, what the way there and back and a wait for a thread may take. */
const MARGIN_MS = 5_000;

export type HttpRetrievalSettings = Omit<NeighbourAddress, 'url'> & RetrievalClientConfig;

/** Files are read by another process. A process that breaks off is left out, and another one is asked. */
export class HttpRetrieval extends Retrieval {
  /** Without a client it has one of its own. */
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

const AWAY = 'files can not be read at the moment';
