import { setImmediate as turn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type ContentPart, type Issue, type Message, invalidRequest } from '@svc/contracts';
import pLimit from 'p-limit';
import { jsonMembers } from '../json/json-members.js';
import { promptCount } from '../tokens/prompt-count.js';
import type { Tokenizer } from '../tokens/tokenizer.js';
import { Tokenizers } from '../tokens/tokenizers.js';
import { estimatePromptTokens, promptTokensAtMost } from '../tokens/tokens.js';
import { Attachments } from './attachments.js';
import type { ChatPlan } from './chat-plan.js';
import { type MessageList, editMessages } from './message-edits.js';
import { Prompts } from './prompts.js';

/** Looking at so many characters takes milliseconds. */
const LONG_TEXT = 1_000_000;

/** Attachments of one request that are read at once. */
const AT_ONCE = 4;

interface PlacedPart {
  readonly part: ContentPart;
  readonly path: Issue['path'];
}

/** A prompt as a backend gets it. */
export interface PreparedPrompt {
  /** The JSON of the messages, where they are not those that the client sent. */
  readonly messages: string | undefined;
  /** Its tokens, estimated. */
  readonly tokens: number;
  /** The most that a backend's count of them is believed. */
  readonly tokensAtMost: number;
  /** Counts its tokens, to be asked where the backend has not. */
  readonly count: () => Promise<number>;
  /** Counts what comes of it; without one it is estimated. */
  readonly tokenizer: Tokenizer | undefined;
}

/** Makes the messages of a request ready for a backend. */
@Injectable()
export class Preparation {
  constructor(
    private readonly prompts: Prompts,
    private readonly attachments: Attachments,
    private readonly tokenizers: Tokenizers,
  ) {}

  /** Refuses: INVALID_REQUEST, CHARACTER_NOT_FOUND, UNAVAILABLE. */
  async prepare(plan: ChatPlan, signal: AbortSignal): Promise<PreparedPrompt> {
    // A long text was looked at just before, and is again right after.
    const isLong = plan.text.length > LONG_TEXT;
    if (isLong) await turn();
    const ready = await this.ready(plan, signal);
    if (isLong) await turn();
    const request = ready ? { ...plan.request, messages: [...ready.messages] } : plan.request;
    const tokens = ready ? estimatePromptTokens(request) : plan.promptTokens;
    const tokenizer = this.tokenizers.for(plan.model);
    // The request without its messages, and the messages as the backend gets them.
    const tokensAtMost = promptTokensAtMost(request, plan.text.length + (ready?.text.length ?? 0));
    const count = promptCount(request, tokens, tokenizer);
    return { messages: ready?.text, tokens, tokensAtMost, tokenizer, count };
  }

  /**
   * The messages with their files as text, their images, videos and audio checked, the prompts before them, and without
   * those that say nothing; `undefined` when there is nothing to do.
   */
  private async ready(plan: ChatPlan, signal: AbortSignal): Promise<MessageList | undefined> {
    const { messages } = plan.request;
    const prompt = this.prompts.for(plan.parameters, plan.model).join('\n\n');
    const dropped = new Set(messages.filter(isEmpty));
    if (dropped.size === messages.length)
      throw invalidRequest([{ code: 'custom', path: ['messages'], message: 'Every message is empty' }]);
    const placed = partsOf(messages);
    const left = plan.model.capabilities.maxImages === 1 ? imagesLeftOut(messages) : new Set<ContentPart>();
    const parts = await this.readyAll(
      placed.filter(({ part }) => part.type !== 'text' && !left.has(part)),
      plan,
      signal,
    );
    for (const part of left) parts.set(part, undefined);
    if (prompt === '' && dropped.size === 0 && parts.size === 0) return undefined;
    const text = jsonMembers(plan.text).get('messages') ?? '[]';
    return editMessages({ messages, text }, { prompt, dropped, parts });
  }

  /** The parts that change, and what they become. */
  private async readyAll(
    placed: readonly PlacedPart[],
    plan: ChatPlan,
    signal: AbortSignal,
  ): Promise<Map<ContentPart, ContentPart | undefined>> {
    // Most requests have none, and what follows costs more than the rest of their preparation.
    if (placed.length === 0) return new Map();
    const { accountId, model } = plan;
    const takesImages = model.capabilities.supportsVision === true;
    const changed = new Map<ContentPart, ContentPart | undefined>();
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const limit = pLimit(AT_ONCE);
    const readyOne = async ({ part, path }: PlacedPart): Promise<void> => {
      const context = { path, accountId, takesImages, signal: either };
      const ready = await this.attachments.ready(part, context);
      if (ready !== part) changed.set(part, ready);
    };
    try {
      await Promise.all(placed.map((each) => limit(readyOne, each)));
      return changed;
    } finally {
      // One that fails ends the work on the others.
      limit.clearQueue();
      failed.abort();
    }
  }
}

/** Assistants that say and call nothing come from clients that keep what a stopped answer left. */
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

/** A model that takes one image is given those of the last message that has any. */
function imagesLeftOut(messages: readonly Message[]): Set<ContentPart> {
  const byMessage = messages
    .map(({ content }) => (Array.isArray(content) ? content.filter(({ type }) => type === 'image_url') : []))
    .filter(({ length }) => length > 0);
  return new Set(byMessage.slice(0, -1).flat());
}
