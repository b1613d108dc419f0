import { z } from 'zod';

/**
 * The most characters of the strings of a chat completion, by what they are. All together are bounded by the body
 * (35 MB), in which base64 of 25 MB has room.
 */
export const CHARS = {
  /** Words that one of a few is expected of, and the like. */
  word: 64,
  /** The name of whoever speaks, as OpenAI bounds it. */
  name: 64,
  /** The name of a tool. OpenAI has 64; tools of the Model Context Protocol have up to 128. */
  toolName: 128,
  /** A model with its suffix, or any other id that a person wrote. */
  id: 256,
  /** An id that a program made. Some providers put signatures of a thought into those of tool calls. */
  longId: 16_384,
  /** As file systems have it, with room for a path. */
  filename: 1_000,
  /** A URL to be fetched, long enough for signed links to object storage. */
  url: 8_192,
  /** A description of a tool or a field. */
  description: 65_536,
  /** What is said: more than fits into any model's context. */
  text: 10_000_000,
  /** A data URL of 25 MB, and base64 of as much. */
  data: 33_400_000,
} as const;

/** The most members of lists. */
export const ITEMS = {
  messages: 10_000,
  parts: 2_000,
  tools: 1_024,
  toolCalls: 1_024,
  details: 2_000,
  tokenIds: 1_024,
  words: 64,
} as const;

export const chars = (most: number): z.ZodString => z.string().max(most);

/** A string that may also be null or left out. */
export const maybe = (most: number) => chars(most).nullish();
