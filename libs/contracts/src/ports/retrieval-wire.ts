import { z } from 'zod';
import { type ExtractedText, ExtractionFailed, type SourceFile } from './retrieval.js';

/** Where a process that serves the ports of retrieval is asked, by POST. */
export const RETRIEVAL_PATHS = {
  extractText: '/internal/v1/retrieval/text',
  searchWeb: '/internal/v1/retrieval/search',
  readPage: '/internal/v1/retrieval/page',
} as const;

/**
 * A file on the wire: its bytes are the body as they are, and all else is in this header, JSON in percent-encoding,
 * since names have any letters.
 */
export const FILE_HEADER = 'x-svc-file';

const FileHead = z.object({
  accountId: z.string().min(1).max(300),
  name: z.string().max(1_000).optional(),
  mediaType: z.string().max(1_000).optional(),
});

/** What is in the header; names that no header has room for lose their beginning, and keep the ending that tells a kind. */
export function encodeFileHead({ accountId, name, mediaType }: SourceFile): string {
  const head = { accountId, name: name?.slice(-1_000), mediaType: mediaType?.slice(0, 1_000) };
  return encodeURIComponent(JSON.stringify(head));
}

/** Throws on a header that is none. */
export function decodeFile(head: string, bytes: Uint8Array): SourceFile {
  return { ...FileHead.parse(JSON.parse(decodeURIComponent(head))), bytes };
}

/** An answer of `extractText` on the wire, in JSON: the text, or why there is none. */
export const ExtractionReply = z.union([
  z.object({ text: z.string(), kind: z.string() }),
  z.object({ failed: z.object({ reason: z.string(), retryable: z.boolean() }) }),
]);
export type ExtractionReply = z.infer<typeof ExtractionReply>;

/** Any error but ExtractionFailed is thrown on. */
export async function encodeExtraction(extraction: Promise<ExtractedText>): Promise<ExtractionReply> {
  try {
    const { text, kind } = await extraction;
    return { text, kind };
  } catch (error) {
    if (!(error instanceof ExtractionFailed)) throw error;
    return { failed: { reason: error.reason, retryable: error.retryable } };
  }
}

/** What the port answers. Throws ExtractionFailed where that was the answer. */
export function decodeExtraction(reply: ExtractionReply): ExtractedText {
  if ('failed' in reply) throw new ExtractionFailed(reply.failed.reason, reply.failed.retryable);
  return reply;
}
