import type { ContentPart, Message } from '@svc/api/chat';
import { type JsonPart, elementsOf, listPart, membersOf, objectPart, partOf } from '@svc/paid/json';
import { joinedContents } from './message-contents.js';
import { type TemplateRules, forTemplates } from './template-roles.js';

/** Changes to the messages of a request before they go to a backend. */
export interface MessageEdits {
  /** A system prompt to put before the caller's messages; may be empty. */
  readonly prompt: string;
  /** Fenced untrusted content to put before the text of the last user message; may be empty. */
  readonly untrusted: string;
  readonly dropped: ReadonlySet<Message>;
  /** The replacement of each changed part; undefined if it is removed. */
  readonly parts: ReadonlyMap<ContentPart, EditedPart | undefined>;
  readonly rules: TemplateRules;
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
const NOTHING = partOf({ type: 'text', text: '[left out]' });

/**
 * Applies edits to both the messages and their text. Unedited content keeps its bytes, so numbers beyond
 * double precision survive.
 */
export function editMessages({ messages, text }: MessageList, edits: MessageEdits): MessageList {
  const kept = elementsOf({ value: messages, text })
    .filter(({ value }) => !edits.dropped.has(value as Message))
    .map((message) => editParts(message, edits));
  if (edits.untrusted !== '') addUntrusted(edits.untrusted, kept);
  // It becomes one with the caller's own system prompt.
  const prompt = edits.prompt === '' ? [] : [partOf({ role: 'system', content: edits.prompt })];
  const edited = listPart(forTemplates([...prompt, ...kept], edits.rules));
  return { messages: edited.value as Message[], text: edited.text };
}

function editParts(message: JsonPart, { parts }: MessageEdits): JsonPart {
  const { role, content } = message.value as Message;
  if (role !== 'user' || !Array.isArray(content) || !content.some((part) => parts.has(part))) return message;
  const members = membersOf(message);
  const kept = elementsOf(members.get('content') ?? NOTHING).flatMap((part) => {
    const original = part.value as ContentPart;
    if (!parts.has(original)) return [part];
    const edited = parts.get(original);
    return edited ? [{ value: edited.part, text: edited.text }] : [];
  });
  return objectPart([...members, ['content', listPart(kept.length > 0 ? kept : [NOTHING])]]);
}

/**
 * Adds untrusted content. It gets no message of its own, because many chat templates require roles to
 * alternate. It goes into the user message, whose authority is lower than that of the system prompt.
 */
function addUntrusted(untrusted: string, messages: JsonPart[]): void {
  const at = messages.findLastIndex(({ value }) => (value as Message).role === 'user');
  const last = messages[at];
  if (!last) return;
  const members = membersOf(last);
  const content = joinedContents([partOf(untrusted), members.get('content') ?? partOf('')]);
  messages[at] = objectPart([...members, ['content', content]]);
}
