import { mixed } from '@svc/runtime';

/** A block has this many bytes of a prompt, which are about 128 tokens. */
const BLOCK_BYTES = 512;

/** Of longer prompts only the beginning is hashed. */
const HASHED_BYTES = 65_536;
const MOST_BLOCKS = HASHED_BYTES / BLOCK_BYTES;

/** About as many bytes of JSON are one token. */
const BYTES_PER_TOKEN = 4;
export const TOKENS_PER_BLOCK = BLOCK_BYTES / BYTES_PER_TOKEN;

/** Longer prompts, such as those with images, count as ones of this length. */
const COUNTED_BYTES = 524_288;

/** What precedes the messages. In front of it are options, which are no part of the prompt. */
const MESSAGES = Buffer.from('"messages":[');

const WORDS_PER_BLOCK = BLOCK_BYTES / 4;
const bytes = new Uint8Array(HASHED_BYTES);
const words = new Int32Array(bytes.buffer);
const hashes = new Uint32Array(MOST_BLOCKS);

/** The prompt of a call, as far as it matters for the choice of a server. */
export interface PromptBlocks {
  /** Its tokens, estimated by its length. */
  readonly tokens: number;
  /** A hash for each whole block of its beginning. Each depends on all blocks before it. */
  readonly blocks: Uint32Array;
}

/** The prompt of a chat, whose body is JSON. Prompts have blocks in common only with the same salt. */
export function promptOf(body: readonly Uint8Array[], salt: number): PromptBlocks {
  const blocks = hashBlocks(copyBeginning(body), salt);
  return { tokens: bytesToTokens(body), blocks };
}

/** The tokens of a prompt, estimated by its length. */
export function bytesToTokens(body: readonly Uint8Array[]): number {
  let size = 0;
  for (const piece of body) size += piece.length;
  return Math.ceil(Math.min(size, COUNTED_BYTES) / BYTES_PER_TOKEN);
}

/** Copies the beginning of the prompt to where its words can be read. Returns its length. */
function copyBeginning(body: readonly Uint8Array[]): number {
  let length = 0;
  for (const [at, piece] of body.entries()) {
    const from = at === 0 ? startOfMessages(piece) : 0;
    const part = piece.subarray(from, from + HASHED_BYTES - length);
    bytes.set(part, length);
    length += part.length;
    if (length === HASHED_BYTES) break;
  }
  return length;
}

function startOfMessages({ buffer, byteOffset, length }: Uint8Array): number {
  const beginning = Buffer.from(buffer, byteOffset, Math.min(length, HASHED_BYTES));
  return Math.max(0, beginning.indexOf(MESSAGES));
}

/** Four lanes at once, since each step of a lane waits for the one before. */
function hashBlocks(length: number, salt: number): Uint32Array {
  const count = Math.floor(length / BLOCK_BYTES);
  let chain = salt;
  for (let block = 0; block < count; block += 1) {
    let a = chain;
    let b = chain ^ 0x9e3779b9;
    let c = chain ^ 0x7f4a7c15;
    let d = chain ^ 0x85ebca6b;
    const end = (block + 1) * WORDS_PER_BLOCK;
    for (let at = block * WORDS_PER_BLOCK; at < end; at += 4) {
      a = step(a, words[at] ?? 0);
      b = step(b, words[at + 1] ?? 0);
      c = step(c, words[at + 2] ?? 0);
      d = step(d, words[at + 3] ?? 0);
    }
    chain = mixed(mixed(mixed(mixed(a) ^ b) ^ c) ^ d);
    hashes[block] = chain;
  }
  return hashes.slice(0, count);
}

function step(lane: number, word: number): number {
  const mixedIn = Math.imul(lane ^ word, 0x9e3779b1);
  return (mixedIn << 13) | (mixedIn >>> 19);
}
