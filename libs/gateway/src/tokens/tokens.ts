import type { ChatRequest, Message } from '@svc/contracts';

/**
 * Bytes of UTF-8 per token where nobody has counted. English prose has about four in common vocabularies, code and
 * other scripts fewer; this errs on the side of more tokens.
 */
const BYTES_PER_TOKEN = 3.2;

/** Role and separators of a message, in chat templates of common models. */
const TOKENS_PER_MESSAGE = 4;

/** Media count as this many tokens each until the backend says what they were. */
const TOKENS_PER_MEDIA_PART = 1_024;

/** Tokens of a text, estimated. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Tokens of a prompt, estimated: its texts by size, its messages and media by number. */
export function estimatePromptTokens(request: ChatRequest): number {
  let bytes = 0;
  for (const text of promptTexts(request)) bytes += Buffer.byteLength(text);
  return estimateTokens(bytes) + tokensBesideTexts(request);
}

/** The texts of a prompt: what is said, thought and called in its messages, and what tools there are. */
export function promptTexts({ messages, tools }: ChatRequest): string[] {
  const texts: string[] = [];
  for (const message of messages) {
    const { content } = message;
    if (typeof content === 'string') texts.push(content);
    else if (content) for (const part of content) if (part.type === 'text') texts.push(part.text);
    if (message.role === 'assistant') addOwnTexts(message, texts);
  }
  if (tools) texts.push(JSON.stringify(tools));
  return texts;
}

/** Tokens of a prompt that are not in its texts, estimated. */
export function tokensBesideTexts({ messages }: ChatRequest): number {
  let media = 0;
  for (const { content } of messages)
    if (Array.isArray(content)) for (const part of content) if (part.type !== 'text') media += 1;
  return messages.length * TOKENS_PER_MESSAGE + media * TOKENS_PER_MEDIA_PART;
}

function addOwnTexts(message: Extract<Message, { role: 'assistant' }>, texts: string[]): void {
  if (message.tool_calls) texts.push(JSON.stringify(message.tool_calls));
  if (message.reasoning_content) texts.push(message.reasoning_content);
}
