import { randomUUID } from 'node:crypto';
import { RESPONSE_JSON_LIMITS, jsonOrUndefined, unescapedJson } from '@svc/runtime';
import {
  type AroundText,
  type Fields,
  REASONING_NAMES,
  type RepeatedPiece,
  type Repetition,
  type WrittenAround,
  type WrittenPiece,
  isFields,
} from '@svc/contracts/inference';
import { DATA } from './backend-events.js';
import type { EventRepetitions } from './piece-reader.js';

/** Stands for the text of a chunk. It needs no escapes in JSON and occurs in no response. */
const PLACEHOLDER = randomUUID();

/** Where the text of a chunk may begin. */
const TEXT_STARTS = new RegExp(`"(content|reasoning_content|${REASONING_NAMES.join('|')})"\\s*:\\s*"`, 'g');

/** A longer chunk is not learned from. */
const LEARNED_CHARACTERS = 4_096;

/** What an event has around its data: `data: ` and an empty line. */
const EVENT_FRAME_BYTES = 8;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const DELETE = 0x7f;

const PRINTABLE = /^[\x20-\x7e]*$/;

/** After a chunk that no other followed, at most this number of chunks is not learned from. */
const MOST_SKIPPED = 64;

/** The text of a chunk: its value, and how it is written in JSON. */
interface ChunkText {
  readonly value: string;
  readonly json: string;
}

/**
 * The chunks of a stream usually differ only in one text. Once one has been parsed, converted and written,
 * those that differ from it only in that text need neither.
 *
 * This is exact. The chunk with a placeholder as its text was parsed too, and the placeholder was the whole
 * value of that member. So the JSON before it ends inside of a string that has just begun, and the JSON after
 * it begins with the closing quote. Any string between them changes the value of that member and nothing
 * else.
 */
export class RepeatedChunk implements RepeatedPiece {
  /** An event of this chunk before and after its text, if it consists of one line of printable ASCII. */
  private readonly framed: readonly [before: string, after: string] | undefined;
  private readonly before: string;
  private readonly after: string;

  private constructor(
    before: string,
    after: string,
    readonly written: AroundText,
    readonly kind: 'content' | 'reasoning',
    readonly choice: number,
  ) {
    if (PRINTABLE.test(before) && PRINTABLE.test(after)) this.framed = [`${DATA}${before}`, `${after}\n\n`];
    // Parts of the framed texts keep no more in memory; parts of the chunk keep all of it.
    this.before = this.framed?.[0].slice(DATA.length) ?? before;
    this.after = this.framed?.[1].slice(0, after.length) ?? after;
  }

  /**
   * Learns from a chunk and the piece that was written for it. Undefined for a chunk that says anything apart
   * from its text, such as usage, log probabilities or a finish reason.
   */
  static of(chunk: string, piece: WrittenPiece, around: WrittenAround): RepeatedChunk | undefined {
    if (chunk.length > LEARNED_CHARACTERS || piece.finish_reason !== null || piece.logprobs) return undefined;
    for (const start of chunk.matchAll(TEXT_STARTS)) {
      const [mark, member = ''] = start;
      const from = start.index + mark.length;
      const end = endOfString(chunk, from);
      if (end === undefined || end === from) continue;
      const [before, after] = [chunk.slice(0, from), chunk.slice(end)];
      const delta = onlyDelta(before + PLACEHOLDER + after);
      if (!delta || delta[member] !== PLACEHOLDER || !saysOnly(delta, member)) continue;
      const kind = member === 'content' ? 'content' : 'reasoning';
      const shown = kind === 'content' ? 'content' : 'reasoning_content';
      // Whatever else was done with the text, nothing is learned from it.
      if (piece.delta[shown] !== unescapedJson(chunk.slice(from, end))) continue;
      const written = around(piece, shown);
      if (written) return new RepeatedChunk(before, after, written, kind, piece.index);
    }
    return undefined;
  }

  /**
   * The text in bytes that are one event of this chunk. Only plain ASCII, which is the same in JSON and in
   * UTF-8.
   */
  textIn(bytes: Buffer): string | undefined {
    if (!this.framed) return undefined;
    const [before, after] = this.framed;
    const end = bytes.length - after.length;
    if (end < before.length) return undefined;
    const event = bytes.toString('latin1');
    if (!event.startsWith(before) || !event.endsWith(after)) return undefined;
    for (let at = before.length; at < end; at += 1) if (!isPlainAscii(event.charCodeAt(at))) return undefined;
    return event.slice(before.length, end);
  }

  /** The text of a chunk, if it differs from this one in nothing else. */
  textOf(chunk: string): ChunkText | undefined {
    const { before, after } = this;
    const end = chunk.length - after.length;
    if (end < before.length || !chunk.startsWith(before) || !chunk.endsWith(after)) return undefined;
    const json = chunk.slice(before.length, end);
    if (isPlain(json)) return { value: json, json };
    try {
      const value = unescapedJson(json);
      return { value, json: JSON.stringify(value).slice(1, -1) };
    } catch {
      return undefined;
    }
  }
}

/** The chunk that those of a stream repeat, learned again whenever one is different. */
export class ChunkRepetition implements EventRepetitions {
  private chunk: RepeatedChunk | undefined;
  private wasRepeated = true;
  /** Chunks not to learn from, and how many there were after the latest that was not repeated. */
  private left = 0;
  private skipped = 0;

  /** @param counted Counts the characters of the events that are read here. */
  constructor(private readonly counted: { received: number }) {}

  read(chunk: string): Repetition | undefined {
    const repeated = this.chunk;
    const text = repeated?.textOf(chunk);
    if (!repeated || !text) return undefined;
    this.wasRepeated = true;
    this.counted.received += chunk.length;
    return { ...text, repeated };
  }

  offer(bytes: Buffer, take: (repetition: Repetition) => boolean): boolean {
    const repeated = this.chunk;
    const text = repeated?.textIn(bytes);
    if (!repeated || text === undefined) return false;
    this.wasRepeated = true;
    if (!take({ value: text, json: text, repeated })) return false;
    this.counted.received += bytes.length - EVENT_FRAME_BYTES;
    return true;
  }

  learn(chunk: string, pieces: readonly WrittenPiece[], around: WrittenAround): void {
    this.chunk = undefined;
    if (this.left > 0) {
      this.left -= 1;
      return;
    }
    const [piece] = pieces;
    if (!piece || pieces.length > 1) return;
    const learned = RepeatedChunk.of(chunk, piece, around);
    if (!learned) return;
    this.skipped = this.wasRepeated ? 0 : Math.min(2 * this.skipped + 1, MOST_SKIPPED);
    this.left = this.skipped;
    this.wasRepeated = false;
    this.chunk = learned;
  }
}

/** Whether a text is the same in JSON, between quotes. */
function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE || unit === BACKSLASH || unit < SPACE) return false;
  }
  return true;
}

/** Whether a character is printable ASCII and needs no escape in JSON. */
function isPlainAscii(unit: number): boolean {
  return unit >= SPACE && unit < DELETE && unit !== QUOTE && unit !== BACKSLASH;
}

/** The index of the quote that closes the string that begins at `from`. */
function endOfString(json: string, from: number): number | undefined {
  for (let quote = json.indexOf('"', from); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let start = quote;
    while (start > from && json.charCodeAt(start - 1) === BACKSLASH) start -= 1;
    if ((quote - start) % 2 === 0) return quote;
  }
  return undefined;
}

/** The delta of a chunk that has one choice and reports nothing else. */
function onlyDelta(json: string): Fields | undefined {
  const chunk = jsonOrUndefined(json, RESPONSE_JSON_LIMITS);
  if (!isFields(chunk) || !Array.isArray(chunk['choices']) || chunk['choices'].length !== 1) return undefined;
  const [choice] = chunk['choices'] as unknown[];
  const { error, object, usage, prompt_logprobs: logprobs, citations } = chunk;
  const saysMore =
    Boolean(error) ||
    object === 'error' ||
    (usage ?? null) !== null ||
    (logprobs ?? null) !== null ||
    citations !== undefined;
  return !saysMore && isFields(choice) && isFields(choice['delta']) ? choice['delta'] : undefined;
}

/** Whether a delta says nothing but this member and a role. */
function saysOnly(delta: Fields, member: string): boolean {
  return Object.entries(delta).every(
    ([name, value]) => name === member || name === 'role' || value === null || value === '',
  );
}
