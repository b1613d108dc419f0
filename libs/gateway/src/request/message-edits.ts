import type { ContentPart, Message } from '@svc/contracts';
import { jsonElements, jsonMembers, jsonObject } from '../json/json-members.js';

/** What is made of the messages of a request before a backend gets them. */
export interface MessageEdits {
  /** Goes before what the caller says; empty for none. */
  readonly prompt: string;
  readonly dropped: ReadonlySet<Message>;
  /** What becomes of a part; nothing where it is left out. */
  readonly parts: ReadonlyMap<ContentPart, ContentPart | undefined>;
}

/** Messages as they were read, and as the JSON that a backend gets. */
export interface MessageList {
  readonly messages: readonly Message[];
  readonly text: string;
}

/** Stands where a message has lost all its parts. */
const NOTHING: ContentPart = { type: 'text', text: '[left out]' };

/**
 * Applies edits to messages and to their text alike. What is not edited keeps the bytes it came in, so that numbers
 * beyond double survive and megabytes of base64 are not written anew.
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
    const edited = parts.has(part) ? parts.get(part) : part;
    if (!edited) continue;
    kept.push(edited);
    keptTexts.push(edited === part ? (texts[index] ?? '') : partText(edited));
  }
  if (kept.length === 0) {
    kept.push(NOTHING);
    keptTexts.push(JSON.stringify(NOTHING));
  }
  members.set('content', `[${keptTexts.join(',')}]`);
  return { message: { ...message, content: kept }, text: jsonObject(members) };
}

/** A part as JSON. Base64 has nothing to escape, and looking for it in megabytes takes long. */
function partText(part: ContentPart): string {
  if (part.type === 'image_url')
    return JSON.stringify({ ...part, image_url: { ...part.image_url, url: '' } }).replace(
      '"url":""',
      () => `"url":"${part.image_url.url}"`,
    );
  if (part.type === 'video_url')
    return JSON.stringify({ ...part, video_url: { ...part.video_url, url: '' } }).replace(
      '"url":""',
      () => `"url":"${part.video_url.url}"`,
    );
  if (part.type === 'input_audio')
    return JSON.stringify({ ...part, input_audio: { ...part.input_audio, data: '' } }).replace(
      '"data":""',
      () => `"data":"${part.input_audio.data}"`,
    );
  return JSON.stringify(part);
}

/**
 * Changes both lists. A prompt becomes one with the system prompt that the caller begins with, since the chat templates
 * of many models take a single one; a developer's stays what it is.
 */
function addPrompt(prompt: string, messages: Message[], texts: string[]): void {
  const [first] = messages;
  if (first?.role !== 'system') {
    const added: Message = { role: 'system', content: prompt };
    messages.unshift(added);
    texts.unshift(JSON.stringify(added));
    return;
  }
  const members = jsonMembers(texts[0] ?? '');
  const content = members.get('content') ?? '';
  if (typeof first.content === 'string') {
    const before = `${prompt}\n\n`;
    messages[0] = { ...first, content: before + first.content };
    members.set('content', JSON.stringify(before).slice(0, -1) + content.slice(1));
  } else {
    const part = { type: 'text' as const, text: prompt };
    messages[0] = { ...first, content: [part, ...first.content] };
    members.set('content', `[${[JSON.stringify(part), ...jsonElements(content)].join(',')}]`);
  }
  texts[0] = jsonObject(members);
}
