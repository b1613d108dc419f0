import type { Backend } from '@svc/contracts/catalog';
import type { Message } from '@svc/api/chat';
import { type JsonPart, joinedStrings, membersOf, objectPart, partOf } from '@svc/paid/json';
import { joinedContents } from './message-contents.js';

/** What the servers of a model accept in a conversation. */
export interface TemplateRules {
  /** System messages after other messages. */
  readonly lateSystem: boolean;
  /** `content: null` of a message with calls. */
  readonly nullContent: boolean;
  /** Whether contents are ciphertexts, which can be neither joined nor marked. */
  readonly isEncrypted: boolean;
}

/** The rules that all backends of a model follow: a conversation is the same for each, as are its caches. */
export function templateRules(
  backends: readonly Pick<Backend, 'kind' | 'lateSystemMessages'>[],
  isEncrypted: boolean,
): TemplateRules {
  return {
    lateSystem: backends.every(({ lateSystemMessages: accepts }) => accepts === true),
    nullContent: backends.every(({ kind }) => kind !== 'llama-cpp-python'),
    isEncrypted,
  };
}

/** Whether a conversation already follows the rules. */
export function followsRules(messages: readonly Message[], rules: TemplateRules): boolean {
  return messages.every(
    (message, at) =>
      message.role !== 'developer' &&
      (rules.isEncrypted || message.role !== 'system' || at === 0) &&
      (rules.nullContent || message.role !== 'assistant' || message.content !== null),
  );
}

/** The lines around the text of a system message in a user message. */
const OPENING = partOf('<system_message>');
const CLOSING = partOf('</system_message>');

/**
 * The messages as chat templates accept them. Many refuse the role `developer`, a second system message, or
 * one that is not first, and drop it otherwise. So the leading ones become one system message, and the text
 * of each later one goes into a user message at the same place, between marks. It is not moved to the front,
 * since every prompt cache of the conversation would be lost. A neighbouring user message takes it up,
 * because many templates also require roles to alternate. Nothing comes between calls and their results. The
 * beginning of a conversation is always written in the same way, however it goes on.
 */
export function forTemplates(messages: readonly JsonPart[], rules: TemplateRules): JsonPart[] {
  if (rules.isEncrypted) return messages.map(asSystem);
  const end = messages.findIndex((message) => !isInstruction(message));
  const leading = messages.slice(0, end === -1 ? messages.length : end);
  const later = behindResults(messages.slice(leading.length).filter((each) => !isEmptyInstruction(each)));
  const all = [
    ...oneSystemMessage(leading),
    ...(rules.lateSystem ? later.map(asSystem) : withMarkedTexts(later)),
  ];
  return rules.nullContent ? all : all.map(withoutNull);
}

const roleOf = ({ value }: JsonPart): Message['role'] => (value as Message).role;

const isInstruction = (message: JsonPart): boolean =>
  roleOf(message) === 'system' || roleOf(message) === 'developer';

const isEmptyInstruction = (message: JsonPart): boolean =>
  isInstruction(message) && (message.value as Message).content?.length === 0;

const contentOf = (message: JsonPart): JsonPart => membersOf(message).get('content') ?? partOf('');

function asSystem(message: JsonPart): JsonPart {
  return roleOf(message) === 'developer' ? withMember('role', partOf('system'), message) : message;
}

function oneSystemMessage(messages: readonly JsonPart[]): JsonPart[] {
  const [first, ...others] = messages.map(asSystem);
  if (!first || others.length === 0) return first ? [first] : [];
  return [withMember('content', joinedContents(messages.map(contentOf)), first)];
}

/** Moves instructions that stand between a call and its results behind these. */
function behindResults(messages: readonly JsonPart[]): JsonPart[] {
  const ordered: JsonPart[] = [];
  let waiting: JsonPart[] = [];
  for (const message of messages) {
    if (isInstruction(message)) {
      waiting.push(message);
      continue;
    }
    if (roleOf(message) !== 'tool') {
      ordered.push(...waiting);
      waiting = [];
    }
    ordered.push(message);
  }
  return [...ordered, ...waiting];
}

/** Each instruction, with the user messages next to it, as one user message. */
function withMarkedTexts(messages: readonly JsonPart[]): JsonPart[] {
  const marked: JsonPart[] = [];
  let run: JsonPart[] = [];
  /** The user message of the run whose members it gets. */
  let speaker: JsonPart | undefined;
  const endRun = (): void => {
    if (run.length > 0) marked.push(oneUserMessage(run, speaker));
    run = [];
    speaker = undefined;
  };
  for (const message of messages) {
    const isUser = roleOf(message) === 'user';
    const last = run.at(-1);
    const joins = isUser
      ? last && isInstruction(last) && isOfSpeaker(message, speaker)
      : isInstruction(message);
    if (joins !== true) endRun();
    if (isUser || isInstruction(message)) run.push(message);
    else marked.push(message);
    if (isUser) speaker ??= message;
  }
  endRun();
  return marked;
}

/** A user message may name its speaker. */
function isOfSpeaker(message: JsonPart, speaker: JsonPart | undefined): boolean {
  const nameOf = ({ value }: JsonPart): string | undefined =>
    (value as { name?: string | null }).name ?? undefined;
  return !speaker || nameOf(message) === nameOf(speaker);
}

function oneUserMessage(run: readonly JsonPart[], speaker: JsonPart | undefined): JsonPart {
  const [first] = run;
  if (first && run.length === 1 && !isInstruction(first)) return first;
  const contents = run.map((message) =>
    isInstruction(message) ? markedContent(contentOf(message)) : contentOf(message),
  );
  return withMember('content', joinedContents(contents), speaker ?? objectPart([['role', partOf('user')]]));
}

function markedContent(content: JsonPart): JsonPart {
  if (typeof content.value === 'string') return joinedStrings([OPENING, content, CLOSING], '\n');
  return joinedContents([OPENING, content, CLOSING]);
}

/** Left out, null means the same to every server, and some refuse it. */
function withoutNull(message: JsonPart): JsonPart {
  if (roleOf(message) !== 'assistant' || (message.value as Message).content !== null) return message;
  return objectPart([...membersOf(message)].filter(([name]) => name !== 'content'));
}

function withMember(name: string, member: JsonPart, message: JsonPart): JsonPart {
  return objectPart([...membersOf(message), [name, member]]);
}
