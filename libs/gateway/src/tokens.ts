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

/** Tokens of a prompt, estimated: its texts by size, its media by number. */
export function estimatePromptTokens(request: ChatRequest): number {
  let bytes = 0;
  let media = 0;
  for (const message of request.messages) {
    const { content } = message;
    if (typeof content === 'string') bytes += Buffer.byteLength(content);
    else if (content) {
      for (const part of content) {
        if (part.type === 'text') bytes += Buffer.byteLength(part.text);
        else media += 1;
      }
    }
    bytes += otherBytes(message);
  }
  if (request.tools) bytes += JSON.stringify(request.tools).length;
  return estimateTokens(bytes) + request.messages.length * TOKENS_PER_MESSAGE + media * TOKENS_PER_MEDIA_PART;
}

function otherBytes(message: Message): number {
  if (message.role !== 'assistant') return 0;
  const calls = message.tool_calls ? JSON.stringify(message.tool_calls).length : 0;
  return calls + Buffer.byteLength(message.reasoning_content ?? '');
}
