import type { ContentPart, Message } from '@svc/contracts';
import { jsonElements, jsonMembers, jsonObject } from '../json/json-members.js';

/** Changes to the messages of a request before they go to a backend. */
export interface MessageEdits {
  /** A system prompt to put before the caller's messages; may be empty. */
  readonly prompt: string;
  /** Fenced untrusted content to put before the text of the last user message; may be empty. */
  readonly untrusted: string;
  readonly dropped: ReadonlySet<Message>;
  /** The replacement of each changed part; undefined if it is removed. */
  readonly parts: ReadonlyMap<ContentPart, EditedPart | undefined>;
}

/** A part of a message and its JSON text. */
export interface EditedPart {
  readonly part: ContentPart;
  readonly text: string;
}

/** Parsed messages, and the JSON text that a backend gets. */
export interface MessageList {
  readonly messages: readonly Message[];
  readonly text: string;
}

/** Replaces the content of a message that has lost all its parts. */
const NOTHING: ContentPart = { type: 'text', text: '[left out]' };
const NOTHING_TEXT = JSON.stringify(NOTHING);

/**
 * Applies edits to both the messages and their text. Unedited content keeps its bytes, so numbers beyond
 * double precision survive.
 */
export function editMessages({ messages, text }: MessageList, edits: MessageEdits): MessageList {
  const texts = jsonElements(text);
  const kept: Message[] = [];
  const keptTexts: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (edits.dropped.has(message)) continue;
    const edited = editParts(message, texts[index] ?? '', edits);
    kept.push(edited.message);
    keptTexts.push(edited.text);
  }
  if (edits.untrusted !== '') addUntrusted(edits.untrusted, kept, keptTexts);
  if (edits.prompt !== '') addPrompt(edits.prompt, kept, keptTexts);
  return { messages: kept, text: `[${keptTexts.join(',')}]` };
}

function editParts(
  message: Message,
  text: string,
  { parts }: MessageEdits,
): { message: Message; text: string } {
  const { content } = message;
  if (message.role !== 'user' || !Array.isArray(content) || !content.some((part) => parts.has(part)))
    return { message, text };
  const members = jsonMembers(text);
  const texts = jsonElements(members.get('content') ?? '[]');
  const kept: ContentPart[] = [];
  const keptTexts: string[] = [];
  for (const [index, part] of content.entries()) {
    const edited = parts.has(part) ? parts.get(part) : { part, text: texts[index] ?? '' };
    if (!edited) continue;
    kept.push(edited.part);
    keptTexts.push(edited.text);
  }
  if (kept.length === 0) {
    kept.push(NOTHING);
    keptTexts.push(NOTHING_TEXT);
  }
  members.set('content', `[${keptTexts.join(',')}]`);
  return { message: { ...message, content: kept }, text: jsonObject(members) };
}

/**
 * Adds a system prompt to both lists. It is merged into the caller's leading system prompt, since many chat
 * templates accept only one. A developer message stays separate.
 */
function addPrompt(prompt: string, messages: Message[], texts: string[]): void {
  const [first] = messages;
  if (first?.role !== 'system') {
    const added: Message = { role: 'system', content: prompt };
    messages.unshift(added);
    texts.unshift(JSON.stringify(added));
    return;
  }
  const { message, text } = withTextBefore(prompt, { message: first, text: texts[0] ?? '' });
  messages[0] = message;
  texts[0] = text;
}

/**
 * Adds untrusted content to both lists. It gets no message of its own, because many chat templates require
 * roles to alternate. It goes into the user message, whose authority is lower than that of the system prompt.
 */
function addUntrusted(untrusted: string, messages: Message[], texts: string[]): void {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const last = messages[at];
  if (last?.role !== 'user') return;
  const { message, text } = withTextBefore(untrusted, { message: last, text: texts[at] ?? '' });
  messages[at] = message;
  texts[at] = text;
}

/** Puts text before the content of a message, in both its parsed form and its JSON. */
function withTextBefore<One extends Extract<Message, { role: 'system' | 'user' }>>(
  before: string,
  { message, text }: { message: One; text: string },
): { message: One; text: string } {
  const members = jsonMembers(text);
  const content = members.get('content') ?? '';
  if (typeof message.content === 'string') {
    const joined = `${before}\n\n`;
    members.set('content', JSON.stringify(joined).slice(0, -1) + content.slice(1));
    return { message: { ...message, content: joined + message.content }, text: jsonObject(members) };
  }
  const part = { type: 'text' as const, text: before };
  members.set('content', `[${[JSON.stringify(part), ...jsonElements(content)].join(',')}]`);
  return { message: { ...message, content: [part, ...message.content] }, text: jsonObject(members) };
}
