import { Injectable } from '@nestjs/common';
import type { ContentPart, Message } from '@svc/contracts';
import { Attachments } from './attachments.js';
import type { ChatPlan } from './chat-plan.js';
import { Prompts } from './prompts.js';

/** Attachments of one request that are read at once. */
const AT_ONCE = 4;

/** Makes the messages of a request ready for a backend. */
@Injectable()
export class Preparation {
  constructor(
    private readonly prompts: Prompts,
    private readonly attachments: Attachments,
  ) {}

  /**
   * The messages with their files as text, their images and videos checked, and the prompts before them; `undefined`
   * when there is nothing to do. Refuses: INVALID_REQUEST, CHARACTER_NOT_FOUND.
   */
  async ready(plan: ChatPlan, signal: AbortSignal): Promise<readonly Message[] | undefined> {
    const { messages } = plan.request;
    const prompts = this.prompts.for(plan.parameters, plan.model);
    const prompted = prompts.length === 0 ? messages : withPrompts(messages, prompts);
    const parts = prompted
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(needsWork);
    if (parts.length === 0) return prompted === messages ? undefined : prompted;
    const done = await this.readyAll(parts, signal);
    return prompted.map((message) =>
      message.role === 'user' && Array.isArray(message.content)
        ? { ...message, content: message.content.map((part) => done.get(part) ?? part) }
        : message,
    );
  }

  private async readyAll(
    parts: readonly ContentPart[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<ContentPart, ContentPart>> {
    const done = new Map<ContentPart, ContentPart>();
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    const waiting = parts.values();
    const work = async (): Promise<void> => {
      for (const part of waiting) done.set(part, await this.attachments.ready(part, either));
    };
    try {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, parts.length) }, work));
      return done;
    } finally {
      // One that fails ends the work on the others.
      failed.abort();
    }
  }
}

function needsWork({ type }: ContentPart): boolean {
  return type === 'image_url' || type === 'video_url' || type === 'file';
}

/**
 * Prompts before the caller's. They become one with a system prompt that the caller begins with, since the chat
 * templates of many models take a single one.
 */
function withPrompts(messages: readonly Message[], prompts: readonly string[]): Message[] {
  const text = prompts.join('\n\n');
  const [first, ...rest] = messages;
  if (first?.role !== 'system' && first?.role !== 'developer')
    return [{ role: 'system', content: text }, ...messages];
  const content =
    typeof first.content === 'string'
      ? `${text}\n\n${first.content}`
      : [{ type: 'text' as const, text }, ...first.content];
  return [{ ...first, content }, ...rest];
}
