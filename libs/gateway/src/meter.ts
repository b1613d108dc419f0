import type { Usage } from '@svc/contracts';
import { type Fields, fieldsOf, isFields } from './backend-json.js';
import { estimateTokens } from './tokens.js';

/** More bytes than a common token has, so that a backend which sends token by token is never counted above that. */
const BYTES_PER_TOKEN_AT_MOST = 6;

/**
 * Counts what a backend generated, for answers whose backend has not said: cut, aborted, or silent about it. A piece
 * has at least one token, and its text at least what its size suggests; the greater of the two counts.
 */
export class Meter {
  private pieces = 0;
  private bytes = 0;

  /** Counts the output in a message or a delta whose texts are placed. */
  addMessage(message: Fields): void {
    const { content, tool_calls: calls } = message;
    if (Array.isArray(content)) for (const part of fieldsOf(content)) this.add(part['text']);
    else this.add(content);
    this.add(message['reasoning_content']);
    this.add(message['refusal']);
    if (!Array.isArray(calls)) return;
    for (const { function: called } of fieldsOf(calls)) {
      if (!isFields(called)) continue;
      this.add(called['name']);
      this.add(called['arguments']);
    }
  }

  private add(text: unknown): void {
    if (typeof text !== 'string' || text === '') return;
    this.pieces += 1;
    this.bytes += Buffer.byteLength(text);
  }

  get tokens(): number {
    return Math.max(this.pieces, Math.floor(this.bytes / BYTES_PER_TOKEN_AT_MOST));
  }

  /** For an answer that came in one piece. */
  get wholeTokens(): number {
    return estimateTokens(this.bytes);
  }
}

interface Counted {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** The backend's count where it gave one, or else what was counted here. */
export function usageOf(reported: Usage | undefined, count: () => Counted): Usage {
  if (!reported) return { ...count(), cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
  // A backend that says zero and sent text is one that does not count.
  return reported.completionTokens > 0
    ? reported
    : { ...reported, completionTokens: count().completionTokens };
}
