import { CHARS, ITEMS } from './chat-bounds.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Whether a value is a request for a plain chat: messages of text, and the commonest members. `ChatRequest`
 * accepts all of these and returns them unchanged. Values are the result of JSON.parse.
 */
export function isPlainChat(value: unknown): boolean {
  if (!isFields(value)) return false;
  for (const name of Object.keys(value)) if (!isPlainMember(name, value[name], value)) return false;
  return 'model' in value && 'messages' in value;
}

function isPlainMember(name: string, value: unknown, request: Fields): boolean {
  switch (name) {
    case 'model':
      return isText(value, CHARS.id) && value !== '';
    case 'messages':
      return isConversation(value);
    case 'temperature':
      return isBetween(value, 0, 2);
    case 'top_p':
      return isBetween(value, 0, 1);
    case 'max_tokens':
    case 'max_completion_tokens':
      return Number.isSafeInteger(value);
    case 'stream':
      return typeof value === 'boolean';
    case 'stream_options':
      return request['stream'] === true && isUsageOption(value);
    case 'user':
      return isText(value, CHARS.id * 2);
    default:
      return false;
  }
}

function isConversation(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.length <= ITEMS.messages && value.every(isTextMessage)
  );
}

function isTextMessage(value: unknown): boolean {
  return (
    isFields(value) &&
    isRole(value['role']) &&
    isText(value['content'], CHARS.text) &&
    Object.keys(value).length === 2
  );
}

function isRole(value: unknown): boolean {
  return value === 'user' || value === 'assistant' || value === 'system' || value === 'developer';
}

function isUsageOption(value: unknown): boolean {
  return isFields(value) && typeof value['include_usage'] === 'boolean' && Object.keys(value).length === 1;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.length <= most;
}

function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}
