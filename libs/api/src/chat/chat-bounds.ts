import { z } from 'zod';

/**
 * What a model needs to resume its reasoning, encoded by this service for clients to send back. Signatures of
 * providers have some thousand characters.
 */
export const SIGNATURE_CHARACTERS = 65_536;

/**
 * The most characters of each kind of string in a chat completion. The body limit (35 MB) bounds all of them
 * together, and leaves room for base64 of 25 MB.
 */
export const CHARS = {
  /** Enumerated words and the like. */
  word: 64,
  /** The name of a speaker. Source: OpenAI's limit. */
  name: 64,
  /** The name of a tool. OpenAI allows 64 characters; tools of the Model Context Protocol have up to 128. */
  toolName: 128,
  /** A model with its suffix, or another id written by a person. */
  id: 256,
  /** A generated id. Some providers put the signature of reasoning into the ids of tool calls. */
  longId: 16_384,
  signature: SIGNATURE_CHARACTERS,
  /** A file name with room for a path. */
  filename: 1_000,
  /** A URL to be fetched, long enough for signed links to object storage. */
  url: 8_192,
  /** The description of a tool or a field. */
  description: 65_536,
  /** A message text: more than fits into any model's context. */
  text: 10_000_000,
  /** A data URL of 25 MB, or base64 of that size. */
  data: 33_400_000,
} as const;

/** The most elements of lists. */
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

/** A string that may also be null or absent. */
export const maybe = (most: number) => chars(most).nullish();
