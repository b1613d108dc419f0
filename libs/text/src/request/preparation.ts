import { Injectable } from '@nestjs/common';
import type { ChatRequest, ContentPart, Message } from '@svc/api/chat';
import { type Issue, Problem, invalidRequest } from '@svc/contracts/problems';
import { traced } from '@svc/telemetry';
import pLimit from 'p-limit';
import { writtenJson } from '@svc/paid/json';
import { plainBytes } from '../tokens/ciphertext.js';
import { promptCount } from '../tokens/prompt-count.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import { Tokenizers } from '../tokens/tokenizers.js';
import { leastPromptTokens } from '../tokens/least-tokens.js';
import { estimatePromptTokens, promptBytes, promptTokensAtMost } from '../tokens/tokens.js';
import type { Findings } from '../web/web-research.js';
import { Attachments } from '@svc/paid/attachments';
import { type ChatPlan, addedTool } from './chat-plan.js';
import { type EditedPart, type MessageList, editMessages } from './message-edits.js';
import { Prompts } from './prompts.js';
import type { PromptEdits } from './request-text.js';
import { followsRules, templateRules } from './template-roles.js';

/** Attachments of one request that are processed concurrently. */
const AT_ONCE = 4;

/**
 * Limit on the prepared attachments of one request: a short URL may yield 25 MB, and a small file as much
 * text.
 */
const MADE_LIMIT_BYTES = 67_108_864;

interface PlacedPart {
  readonly part: ContentPart;
  readonly path: Issue['path'];
}

/** The replacement of each changed part; undefined if it is removed. */
type ReadyParts = ReadonlyMap<ContentPart, EditedPart | undefined>;

/** Most requests have nothing to leave out or to change. */
const NO_MESSAGES: ReadonlySet<Message> = new Set();
const NO_PARTS: ReadonlySet<ContentPart> = new Set();
const UNCHANGED: ReadyParts = new Map();

/** A prompt as a backend gets it. */
export interface PreparedPrompt {
  /** Estimated tokens. */
  readonly tokens: number;
  /** Upper bound for a backend's count of prompt tokens. */
  readonly tokensAtMost: number;
  /** Lower bound for a backend's count of prompt tokens. */
  readonly tokensAtLeast: () => number;
  /** Counts the tokens. Called only without a plausible count from the backend. */
  readonly count: () => Promise<number>;
  /** The model's tokenizer; undefined if its tokens are estimated. */
  readonly tokenizer: Tokenizer | undefined;
}

/** Prepares the messages of a request for a backend. */
@Injectable()
export class Preparation {
  constructor(
    private readonly prompts: Prompts,
    private readonly attachments: Attachments,
    private readonly tokenizers: Tokenizers,
  ) {}

  /**
   * Replaces the messages of the plan's text if they must be changed. Returns a promise only if attachments
   * must be read. Refuses: INVALID_REQUEST, CHARACTER_NOT_FOUND, PAYLOAD_TOO_LARGE, UNAVAILABLE.
   */
  prepare(
    plan: ChatPlan,
    findings: Findings | undefined,
    signal: AbortSignal,
  ): PreparedPrompt | Promise<PreparedPrompt> {
    const ready = this.ready(plan, findings, signal);
    return ready instanceof Promise
      ? ready.then((messages) => this.prepared(plan, messages))
      : this.prepared(plan, ready);
  }

  private prepared(plan: ChatPlan, ready: MessageList | undefined): PreparedPrompt {
    const offered = addedTool(plan);
    const request: ChatRequest =
      ready || offered
        ? {
            ...plan.request,
            ...(ready && { messages: [...ready.messages] }),
            ...(offered && { tools: [...(plan.request.tools ?? []), offered.tool] }),
          }
        : plan.request;
    const bytesOf = plan.encryption && plainBytes;
    const tokens = ready || offered ? estimatePromptTokens(request, bytesOf) : plan.promptTokens;
    const tokenizer = plan.encryption ? undefined : this.tokenizers.for(plan.model);
    const { text } = plan;
    // Includes both the client's text and the messages sent to the backend.
    const toolBytes = offered ? Buffer.byteLength(JSON.stringify(offered.tool)) : 0;
    const bytes = text.byteLength + (ready ? text.strings.byteLength(ready.text) : 0) + toolBytes;
    const hiddenBytes = bytesOf ? promptBytes(request) - promptBytes(request, bytesOf) : 0;
    const tokensAtMost = promptTokensAtMost(request, bytes - hiddenBytes * (ready ? 2 : 1));
    const count = promptCount(request, tokens, tokenizer);
    // Uses only the client's request, which is kept while the response runs; the prepared messages are not.
    const tokensAtLeast = (): number => (plan.encryption ? 0 : leastPromptTokens(plan.request));
    if (ready) text.messages = ready.text;
    return { tokens, tokensAtMost, tokensAtLeast, tokenizer, count };
  }

  /**
   * The messages with files as text, validated media, system prompts and web findings, without empty
   * assistant messages, and in the roles that chat templates accept. Returns undefined if nothing changes.
   */
  private ready(
    plan: ChatPlan,
    findings: Findings | undefined,
    signal: AbortSignal,
  ): MessageList | undefined | Promise<MessageList | undefined> {
    const { messages } = plan.request;
    const { instructions = '', block: untrusted = '' } = findings ?? {};
    const prompts = this.prompts.for(plan.parameters, plan.model);
    const prompt = (instructions === '' ? prompts : [...prompts, instructions]).join('\n\n');
    const dropped = messages.some(isEmpty) ? new Set(messages.filter(isEmpty)) : NO_MESSAGES;
    if (dropped.size === messages.length) throw allEmpty();
    const placed = partsOf(messages);
    const left = plan.model.capabilities.maxImages === 1 ? imagesLeftOut(messages) : NO_PARTS;
    const toRead = placed.filter(({ part }) => part.type !== 'text' && !left.has(part));
    const edited = (parts: ReadyParts): MessageList | undefined => {
      const rules = templateRules(plan.model.backends, plan.encryption !== undefined);
      plan.text.edits = { prompt, parts: editedPlaces(placed, parts) };
      const isUnchanged = prompt === '' && dropped.size === 0 && parts.size === 0;
      if (isUnchanged && followsRules(messages, rules)) return undefined;
      const original = { messages, text: plan.text.messages };
      return editMessages(original, { prompt, untrusted, dropped, parts, rules });
    };
    // The many requests without attachments do not wait, which would cost more than the rest of their
    // preparation.
    if (toRead.length === 0) return edited(without(left));
    return traced('attachments', () => this.readyAll(toRead, plan, signal)).then((parts) =>
      edited(without(left, parts)),
    );
  }

  /** The changed parts and their replacements. */
  private async readyAll(
    placed: readonly PlacedPart[],
    plan: ChatPlan,
    signal: AbortSignal,
  ): Promise<ReadyParts> {
    const { accountId, model } = plan;
    const { strings } = plan.text;
    const takesImages = model.capabilities.supportsVision === true;
    const changed = new Map<ContentPart, EditedPart | undefined>();
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const limit = pLimit(AT_ONCE);
    let madeBytes = 0;
    const readyOne = async ({ part, path }: PlacedPart): Promise<void> => {
      const context = { path, accountId, takesImages, signal: either };
      const ready = await this.attachments.ready(part, context);
      if (ready === part) return;
      const text = await writtenJson(ready, strings);
      madeBytes += strings.byteLength(text);
      if (madeBytes > MADE_LIMIT_BYTES) throw tooMuchMade();
      changed.set(part, { part: ready, text });
    };
    try {
      await Promise.all(placed.map((each) => limit(readyOne, each)));
      return changed;
    } finally {
      // The first failure cancels the rest.
      limit.clearQueue();
      failed.abort();
    }
  }
}

/** The changed parts, without those that are left out. */
function without(left: ReadonlySet<ContentPart>, parts = UNCHANGED): ReadyParts {
  if (left.size === 0) return parts;
  const all = new Map(parts);
  for (const part of left) all.set(part, undefined);
  return all;
}

function editedPlaces(placed: readonly PlacedPart[], parts: ReadyParts): PromptEdits['parts'] {
  if (parts.size === 0) return [];
  return placed.flatMap(({ part, path }) => {
    if (!parts.has(part)) return [];
    const edited = parts.get(part);
    return [{ path, edited: edited && { value: edited.part, text: edited.text } }];
  });
}

function tooMuchMade(): Problem {
  const message = `The attachments of a request may come to ${MADE_LIMIT_BYTES} bytes together.`;
  return new Problem('PAYLOAD_TOO_LARGE', { message, param: 'messages' });
}

/** Clients produce empty assistant messages by keeping the remains of a stopped response. */
function isEmpty(message: Message): boolean {
  if (message.role !== 'assistant') return false;
  const { content, tool_calls: calls } = message;
  return (content === undefined || content === null || content.length === 0) && !(calls && calls.length > 0);
}

function partsOf(messages: readonly Message[]): PlacedPart[] {
  const placed: PlacedPart[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== 'user' || !Array.isArray(content)) continue;
    for (const [at, part] of content.entries())
      placed.push({ part, path: ['messages', index, 'content', at] });
  }
  return placed;
}

/** A model that accepts one image gets only the images of the last message that has any. */
function imagesLeftOut(messages: readonly Message[]): Set<ContentPart> {
  const byMessage = messages
    .map(({ content }) => (Array.isArray(content) ? content.filter(({ type }) => type === 'image_url') : []))
    .filter(({ length }) => length > 0);
  return new Set(byMessage.slice(0, -1).flat());
}

/** The refusal of a conversation without content. */
export function allEmpty(field = 'messages'): Problem {
  return invalidRequest([{ code: 'custom', path: [field], message: 'Every message is empty' }]);
}
