import { ChatRequest, type Message } from '@svc/contracts';
import { jsonSize } from '../json/json-size.js';

/**
 * Bytes of UTF-8 per token where nobody has counted. English prose has about four in common vocabularies, code and
 * other scripts fewer; this errs on the side of more tokens.
 */
const BYTES_PER_TOKEN = 3.2;

/** Role and separators of a message, in chat templates of common models. */
const TOKENS_PER_MESSAGE = 4;

/** Media count as this many tokens each until the backend says what they were. */
const TOKENS_PER_MEDIA_PART = 1_024;

/**
 * The most that a backend's count of a prompt is believed: a token has at least a byte, a chat template adds some of its
 * own, and a medium may be a long one.
 */
const TEMPLATE_TOKENS_AT_MOST = 2_048;
const MEDIA_TOKENS_AT_MOST = 65_536;

const KNOWN_MEMBERS: ReadonlySet<string> = new Set(Object.keys(ChatRequest.shape));

/** Tokens of a text, estimated. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Tokens of a prompt, estimated: its texts by size, its messages and media by number. */
export function estimatePromptTokens(request: ChatRequest): number {
  return estimateTokens(promptBytes(request)) + tokensBesideTexts(request);
}

/** About the bytes of the texts of a prompt. */
export function promptBytes(request: ChatRequest): number {
  let bytes = 0;
  eachText(request, {
    text: (text) => (bytes += Buffer.byteLength(text)),
    json: (value) => (bytes += jsonSize(value)),
  });
  return bytes;
}

/** The texts of a prompt: what is said, thought and called in its messages, and what tools there are. */
export function promptTexts(request: ChatRequest): string[] {
  const texts: string[] = [];
  eachText(request, {
    text: (text) => texts.push(text),
    json: (value) => texts.push(JSON.stringify(value)),
  });
  return texts;
}

interface TextReader {
  readonly text: (text: string) => void;
  /** What a prompt has as JSON. */
  readonly json: (value: object) => void;
}

function eachText({ messages, tools }: ChatRequest, read: TextReader): void {
  for (const message of messages) {
    const { content } = message;
    if (typeof content === 'string') read.text(content);
    else if (content) for (const part of content) if (part.type === 'text') read.text(part.text);
    if (message.role === 'assistant') eachOwnText(message, read);
  }
  if (tools) read.json(tools);
}

/** Tokens of a prompt that are not in its texts, estimated. A backend may read anything that it is sent into its prompt. */
export function tokensBesideTexts(request: ChatRequest): number {
  let unknownBytes = 0;
  for (const [name, value] of Object.entries(request))
    if (!KNOWN_MEMBERS.has(name)) unknownBytes += jsonSize(value);
  const { messages } = request;
  const besides = messages.length * TOKENS_PER_MESSAGE + mediaIn(request) * TOKENS_PER_MEDIA_PART;
  return besides + estimateTokens(unknownBytes);
}

/** The most tokens that a request of so many bytes can have, as far as a backend is believed. */
export function promptTokensAtMost(request: ChatRequest, bytes: number): number {
  return bytes + TEMPLATE_TOKENS_AT_MOST + mediaIn(request) * MEDIA_TOKENS_AT_MOST;
}

function mediaIn({ messages }: ChatRequest): number {
  let media = 0;
  for (const { content } of messages)
    if (Array.isArray(content)) for (const part of content) if (part.type !== 'text') media += 1;
  return media;
}

function eachOwnText(message: Extract<Message, { role: 'assistant' }>, read: TextReader): void {
  if (message.tool_calls) read.json(message.tool_calls);
  if (message.reasoning_content) read.text(message.reasoning_content);
}
