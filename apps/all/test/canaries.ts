import { randomBytes } from 'node:crypto';
import { open, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Deployment, TestAccount } from './deployment.js';
import { ENCRYPTED_MODEL } from './enclaves.js';
import { encryptedStream } from './encrypted-stream.js';
import type { EncryptionSession } from './encryption-session.js';
import { chunksOf } from './response-bodies.js';

/** A word that occurs nowhere else. */
export const newCanary = (): string => randomBytes(32).toString('hex').replaceAll(/\d/g, 'z');

/** Has the enclave repeat a canary. Returns the ciphertexts of both directions. */
export async function repeatEncrypted(
  platform: Deployment,
  { apiKey }: TestAccount,
  { session, canary }: { readonly session: EncryptionSession; readonly canary: string },
): Promise<string[]> {
  const chat = session.chat([`Say exactly "${canary}"`]);
  const { headers } = session;
  const { pieces, text } = await encryptedStream(platform, chat, { session, apiKey, headers });
  expect(text).toBe(canary);
  return [...chat.messages.map(({ content }) => content), ...pieces];
}

/** The same without encryption. Returns the id of the request. */
export async function repeatPlain(
  platform: Deployment,
  { apiKey }: TestAccount,
  canary: string,
): Promise<string> {
  const messages = [{ role: 'user', content: `Say exactly "${canary}"` }];
  const response = await platform.chat(apiKey, { model: ENCRYPTED_MODEL.id, stream: true, messages });
  const { text } = await chunksOf(response);
  expect(text).toBe(canary);
  return response.headers.get('x-request-id') ?? '';
}

const PIECE_BYTES = 16 * 1_048_576;

/** The writable memory of a process, in pieces with some overlap. */
async function* memoryOf(pid: number, overlap: number): AsyncGenerator<Buffer> {
  const memory = await open(`/proc/${pid}/mem`, 'r');
  try {
    for (const line of (await readFile(`/proc/${pid}/maps`, 'latin1')).split('\n')) {
      const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      const end = Number.parseInt(to, 16);
      for (let at = Number.parseInt(from, 16); at < end; at += PIECE_BYTES) {
        const piece = Buffer.alloc(Math.min(PIECE_BYTES + overlap, end - at));
        // A mapping may end meanwhile.
        const { bytesRead } = await memory.read(piece, 0, piece.length, at).catch(() => ({ bytesRead: 0 }));
        yield piece.subarray(0, bytesRead);
      }
    }
  } finally {
    await memory.close();
  }
}

/** Which of these texts are in the memory of a process, in either form that JavaScript has. */
export async function foundInMemory(pid: number, texts: readonly string[]): Promise<string[]> {
  const needles = texts.flatMap((text) =>
    (['latin1', 'utf16le'] as const).map((form) => ({ text, bytes: Buffer.from(text, form) })),
  );
  const found = new Set<string>();
  for await (const piece of memoryOf(pid, Math.max(...needles.map(({ bytes }) => bytes.length))))
    for (const { text, bytes } of needles) if (piece.includes(bytes)) found.add(text);
  return texts.filter((text) => found.has(text));
}

/** Which of these texts are in any file of a folder. */
export async function foundInFiles(folder: string, texts: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // A database removes files while it runs.
    const bytes = await readFile(join(entry.parentPath, entry.name)).catch(() => Buffer.alloc(0));
    for (const text of texts) if (bytes.includes(text)) found.add(text);
  }
  return texts.filter((text) => found.has(text));
}
