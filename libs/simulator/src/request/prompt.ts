import { isObject } from './chat-request.js';
import type { SimulatorRequest, PromptMessage } from './chat-request.js';
import { Hash } from '../random.js';
import { tokenEnd } from '../tokenizer.js';

/** Tokens per block of the prefix cache. */
export const BLOCK_TOKENS = 64;
/** Tokens that the chat template adds to each message: its role and two separators. */
const MESSAGE_TOKENS = 3;
/** Tokens of a content part that is not text, whatever its size. */
const MEDIA_TOKENS: { readonly [type: string]: number } = {
  image_url: 256,
  input_audio: 128,
  video_url: 512,
  file: 256,
};
const OTHER_PART_TOKENS = 64;
/** Of a media payload only both ends and the length are hashed, so that large images stay cheap. */
const MEDIA_HASHED = 4096;

/** A prompt as the model sees it. */
export interface Prompt {
  readonly tokens: number;
  /** One hash per whole block; each depends on all preceding blocks and on the model. */
  readonly blocks: readonly number[];
  /** Depends on the whole prompt and on the model. */
  readonly hash: number;
  /** Whether any content part, message or tool has `cache_control`. */
  readonly hasCacheControl: boolean;
}

class Meter {
  tokens = 0;
  hasCacheControl = false;
  readonly blocks: number[] = [];
  readonly hash = new Hash();

  text(text: string): void {
    for (let start = 0; start < text.length;) {
      const end = tokenEnd(text, start);
      this.hash.add(text, start, end);
      this.count();
      start = end;
    }
  }

  fixed(tokens: number, label: string): void {
    this.hash.add(label);
    for (let i = 0; i < tokens; i++) this.count();
  }

  private count(): void {
    if (++this.tokens % BLOCK_TOKENS === 0) this.blocks.push(this.hash.value());
  }
}

/** Counts the prompt's tokens and hashes its blocks: tools first, then the messages in order. */
export function measurePrompt(request: SimulatorRequest, modelId: string): Prompt {
  const meter = new Meter();
  meter.hash.add(modelId).add('\u0000');
  const tools = request.body['tools'];
  if (Array.isArray(tools) && tools.length > 0) {
    const text = JSON.stringify(tools);
    meter.hasCacheControl ||= text.includes('"cache_control"');
    meter.text(text);
  }
  for (const message of request.messages) addMessage(meter, message);
  return {
    tokens: meter.tokens,
    blocks: meter.blocks,
    hash: meter.hash.value(),
    hasCacheControl: meter.hasCacheControl,
  };
}

function addMessage(meter: Meter, message: PromptMessage): void {
  meter.fixed(MESSAGE_TOKENS, `\u0001${message.role}\u0002`);
  meter.hasCacheControl ||= message['cache_control'] != null;
  const content = message['content'];
  if (typeof content === 'string') meter.text(content);
  else if (Array.isArray(content)) for (const part of content as unknown[]) addPart(meter, part);
  const calls = message['tool_calls'];
  if (Array.isArray(calls) && calls.length > 0) meter.text(JSON.stringify(calls));
}

function addPart(meter: Meter, part: unknown): void {
  if (typeof part === 'string') return meter.text(part);
  if (!isObject(part)) return;
  meter.hasCacheControl ||= part['cache_control'] != null;
  if (typeof part['text'] === 'string') return meter.text(part['text']);
  const type = typeof part['type'] === 'string' ? part['type'] : 'unknown';
  meter.fixed(MEDIA_TOKENS[type] ?? OTHER_PART_TOKENS, `\u0003${type}:${payloadLabel(part[type])}`);
}

function payloadLabel(payload: unknown): string {
  const fields = isObject(payload) ? payload : { url: payload };
  const data = fields['url'] ?? fields['data'] ?? fields['file_data'] ?? fields['file_id'];
  const text = typeof data === 'string' ? data : '';
  if (text.length <= 2 * MEDIA_HASHED) return text;
  return `${text.length}:${text.slice(0, MEDIA_HASHED)}${text.slice(-MEDIA_HASHED)}`;
}
