import { ChatRequest, type Message } from '@svc/api/chat';
import { jsonSize } from '@svc/paid/json';

/**
 * Bytes of UTF-8 per token for estimates. English prose has about four in common vocabularies, code and other
 * scripts fewer; this errs on the side of more tokens.
 */
const BYTES_PER_TOKEN = 3.2;

/** Role and separators of a message, in chat templates of common models. */
const TOKENS_PER_MESSAGE = 4;

/** The estimate for each image, video or audio until the backend reports its count. */
const TOKENS_PER_MEDIA_PART = 1_024;

/**
 * Upper bounds for what a backend's count may add to the bytes of a prompt: a chat template adds some tokens,
 * and a video or audio may be long. Each other token has at least one byte.
 */
const TEMPLATE_TOKENS_AT_MOST = 2_048;
const MEDIA_TOKENS_AT_MOST = 65_536;

const KNOWN_MEMBERS: ReadonlySet<string> = new Set(Object.keys(ChatRequest.shape));

export const utf8Bytes = (text: string): number => Buffer.byteLength(text);

/** Estimated tokens of a text. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Estimated tokens of a prompt: its texts by size, its messages and media by number. */
export function estimatePromptTokens(request: ChatRequest, bytesOf?: (text: string) => number): number {
  return estimateTokens(promptBytes(request, bytesOf)) + tokensBesideTexts(request);
}

/** Approximate bytes of the texts of a prompt. */
export function promptBytes(request: ChatRequest, bytesOf: (text: string) => number = utf8Bytes): number {
  let bytes = 0;
  eachText(request, {
    text: (text) => (bytes += bytesOf(text)),
    json: (value) => (bytes += jsonSize(value)),
  });
  return bytes;
}

/** The texts of a prompt: content, reasoning and tool calls of its messages, and its tools. */
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
  /** Receives parts of a prompt that are JSON. */
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

/**
 * Estimated tokens of a prompt apart from its texts. A backend may put any part of the request into its
 * prompt.
 */
export function tokensBesideTexts(request: ChatRequest): number {
  let unknownBytes = 0;
  for (const name of Object.keys(request))
    if (!KNOWN_MEMBERS.has(name)) unknownBytes += jsonSize(request[name]);
  const { messages } = request;
  const besides = messages.length * TOKENS_PER_MESSAGE + mediaIn(request) * TOKENS_PER_MEDIA_PART;
  return besides + estimateTokens(unknownBytes);
}

/** Upper bound for a backend's token count of a request of this number of bytes. */
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
