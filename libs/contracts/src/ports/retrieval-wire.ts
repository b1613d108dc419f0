import { z } from 'zod';
import { type ExtractedText, ExtractionFailed, type SourceFile } from './retrieval.js';

/** The POST routes of processes that serve the ports of retrieval. */
export const RETRIEVAL_PATHS = {
  extractText: '/internal/v1/retrieval/text',
  searchWeb: '/internal/v1/retrieval/search',
  readPage: '/internal/v1/retrieval/page',
} as const;

/**
 * A file on the wire: its bytes are the body, and everything else is in this header, as percent-encoded JSON,
 * since names may have any characters.
 */
export const FILE_HEADER = 'x-svc-file';

const FileHead = z.object({
  accountId: z.string().min(1).max(300),
  name: z.string().max(1_000).optional(),
  mediaType: z.string().max(1_000).optional(),
});

/** The header's value. A long name loses its beginning, and keeps the extension that shows its kind. */
export function encodeFileHead({ accountId, name, mediaType }: SourceFile): string {
  const head = { accountId, name: name?.slice(-1_000), mediaType: mediaType?.slice(0, 1_000) };
  return encodeURIComponent(JSON.stringify(head));
}

/** Throws on an invalid header. */
export function decodeFile(head: string, bytes: Uint8Array): SourceFile {
  return { ...FileHead.parse(JSON.parse(decodeURIComponent(head))), bytes };
}

/** The response of `extractText` in JSON: the text, or the reason of the failure. */
export const ExtractionReply = z.union([
  z.object({ text: z.string(), kind: z.string() }),
  z.object({ failed: z.object({ reason: z.string(), retryable: z.boolean() }) }),
]);
export type ExtractionReply = z.infer<typeof ExtractionReply>;

/** Rethrows any error but ExtractionFailed. */
export async function encodeExtraction(extraction: Promise<ExtractedText>): Promise<ExtractionReply> {
  try {
    const { text, kind } = await extraction;
    return { text, kind };
  } catch (error) {
    if (!(error instanceof ExtractionFailed)) throw error;
    return { failed: { reason: error.reason, retryable: error.retryable } };
  }
}

/** The result of the port. Throws ExtractionFailed if the response contains one. */
export function decodeExtraction(reply: ExtractionReply): ExtractedText {
  if ('failed' in reply) throw new ExtractionFailed(reply.failed.reason, reply.failed.retryable);
  return reply;
}
