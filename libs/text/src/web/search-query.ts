import type { ChatRequest } from '@svc/api/chat';
import { QUERY_CHARACTERS } from '@svc/contracts/ports';

/** Only this part of the beginning and the end of a text is used, where questions usually are. */
const LOOKED_AT_CHARACTERS = 4_000;

/** A message with fewer words probably refers to earlier messages. */
const WHOLE_QUESTION_WORDS = 8;

/** The most words of earlier messages to add. */
const ADDED_WORDS = 8;

/** The number of earlier messages to take words from. */
const EARLIER_MESSAGES = 6;

type Message = ChatRequest['messages'][number];

/**
 * The search query for a conversation: the last user message without code and URLs. If it is short,
 * distinctive words of earlier messages are added, the latest first. A long message is reduced to its last
 * question, or else its beginning. Returns undefined if there are no words.
 */
export function searchQuery(messages: readonly Message[]): string | undefined {
  const lastAt = messages.findLastIndex(({ role }) => role === 'user');
  const last = messages[lastAt];
  if (!last) return undefined;
  const question = questionOf(plainWords(messageText(last)));
  const words = wordsOf(question);
  if (words.length === 0) return undefined;
  if (words.length >= WHOLE_QUESTION_WORDS) return question;
  const known = new Set(words.map((word) => word.toLowerCase()));
  const added: string[] = [];
  for (const message of latestFirst(messages.slice(0, lastAt))) {
    for (const word of standingOut(plainWords(messageText(message)))) {
      if (added.length === ADDED_WORDS || known.has(word.toLowerCase())) continue;
      known.add(word.toLowerCase());
      added.push(word);
    }
  }
  return [question, ...added].join(' ').slice(0, QUERY_CHARACTERS).trim();
}

/** The last messages of users and assistants, the latest first. */
function latestFirst(messages: readonly Message[]): readonly Message[] {
  const texts = messages.filter(({ role }) => role === 'user' || role === 'assistant');
  return texts.slice(-EARLIER_MESSAGES).toReversed();
}

/** The text of a message without its other parts. */
export function messageText({ content }: Message): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}

function plainWords(text: string): string {
  const looked =
    text.length <= 2 * LOOKED_AT_CHARACTERS
      ? text
      : `${text.slice(0, LOOKED_AT_CHARACTERS)}\n${text.slice(-LOOKED_AT_CHARACTERS)}`;
  return looked
    .split('```')
    .filter((_, index) => index % 2 === 0)
    .join(' ')
    .replaceAll(/https?:\/\/\S+/gi, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}`*_#>|[\]{}"]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function questionOf(text: string): string {
  if (text.length <= QUERY_CHARACTERS) return text;
  const sentences = text.match(/[^.!?。！？]+[.!?。！？]*/g) ?? [];
  const question = sentences.findLast((sentence) => /[?？]\s*$/.test(sentence))?.trim();
  const chosen = question !== undefined && wordsOf(question).length > 2 ? question : text;
  const cut = chosen.slice(0, QUERY_CHARACTERS);
  const space = cut.lastIndexOf(' ');
  return cut.length < chosen.length && space > QUERY_CHARACTERS / 2 ? cut.slice(0, space) : cut;
}

/** In scripts without spaces, a run of letters counts as one word. */
function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}.'’-]*/gu) ?? [];
}

/** Names, numbers and long words. */
function standingOut(text: string): string[] {
  const words = wordsOf(text).map((word) => word.replace(/[.'’-]+$/, ''));
  return words.filter(
    (word, index) =>
      /\p{N}/u.test(word) || (index > 0 && /^\p{Lu}/u.test(word) && word.length > 1) || word.length >= 8,
  );
}
