import { expect } from 'vitest';
import { type Chunk, chunksOf } from './response-bodies.js';
import type { Deployment } from './deployment.js';
import type { EncryptionSession } from './encryption-session.js';

/** The response to an encrypted chat. */
export interface EncryptedStream {
  readonly chunks: Chunk[];
  /** Its ciphertexts. */
  readonly pieces: string[];
  /** They decrypted. */
  readonly text: string;
  readonly error: Chunk['error'];
}

const CIPHERTEXT = /^04(?:[0-9a-f]{2}){92,}$/;

/** The texts of deltas. */
export const deltasOf = (chunks: readonly Chunk[]): string[] =>
  chunks
    .flatMap(({ choices }) => choices ?? [])
    .flatMap(({ delta }) => [(delta as { reasoning_content?: string }).reasoning_content, delta.content])
    .filter((text) => text !== undefined && text !== '') as string[];

interface EncryptedCaller {
  readonly session: EncryptionSession;
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Posts an encrypted chat and decrypts its response. */
export async function encryptedStream(
  platform: Deployment,
  body: object,
  { session, apiKey, headers }: EncryptedCaller,
): Promise<EncryptedStream> {
  const response = await platform.chat(apiKey, body, { headers });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const { chunks, done } = await chunksOf(response);
  expect(done).toBe(true);
  const pieces = deltasOf(chunks);
  expect(pieces.filter((piece) => !CIPHERTEXT.test(piece))).toEqual([]);
  const text = pieces.map((piece) => session.open(piece)).join('');
  return { chunks, pieces, text, error: chunks.at(-1)?.error };
}
