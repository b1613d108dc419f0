import { PrefixIndex } from './prefix-index.js';
import { type PromptBlocks, TOKENS_PER_BLOCK } from './prompt.js';
import type { CountedPrompt } from './reported-tokens.js';

/** What a call asks of a server. */
export interface CallWork extends PromptBlocks {
  /** Calls with the same key prefer the same server, as far as nothing else decides. */
  readonly key: number | undefined;
  /**
   * Whether the response begins long after the prompt is computed, as that of a chat in one piece. The end of
   * the computation is estimated then.
   */
  readonly isSilent: boolean;
  /** Whether the key alone decides. */
  readonly isKeyed: boolean;
}

/** That of a call without a prompt or a key. */
export const NO_WORK: CallWork = {
  tokens: 0,
  blocks: new Uint32Array(),
  key: undefined,
  isSilent: false,
  isKeyed: false,
};

/** A call at a server. */
export interface WorkingCall {
  /** The tokens and blocks of its prompt, and how many of the blocks the server probably had. */
  readonly promptTokens: number;
  readonly blocks: number;
  readonly known: number;
  readonly hasKey: boolean;
  /** The tokens that are not cached, and with those that were to be computed before. */
  readonly tokens: number;
  readonly aheadTokens: number;
  readonly startMs: number;
  isWaiting: boolean;
}

/** The speed is that of about the last half minute. */
const SPEED_MS = 30_000;

/** The speed of all servers of a model counts as much as that of this many tokens at one. */
const COMMON_TOKENS = 65_536;

/** A measurement below the speed so far counts this many times, so that a slower server is soon spared. */
const SLOW_WEIGHT = 4;

/** The share of cached tokens is that of about this many tokens. */
const SHARE_TOKENS = 1_000_000;

/** By how many blocks a report may differ from what was expected. */
const NEAR_BLOCKS = 2;

/** Servers that have an index at the same time: together 64 MiB. */
const MOST_INDEXES = 256;

/** They, the least recently used first. */
const indexed = new Set<ServerWork>();

/** The tokens of a prompt that a server has to compute if it has these blocks. */
export function uncachedTokens({ tokens, blocks }: PromptBlocks, known: number): number {
  return blocks.length === 0 ? tokens : tokens * (1 - known / blocks.length);
}

/** Why the server of a call was chosen: what it has of the prompt, the key, or its load. */
export function reasonOf({ known, hasKey }: WorkingCall): 'prefix' | 'key' | 'load' {
  if (known > 0) return 'prefix';
  return hasKey ? 'key' : 'load';
}

/** The prompts that a server has and computes, and how fast, as far as this process knows. */
export class ServerWork {
  /** The least time to a first byte, which is that of a cached or very short prompt. */
  leastMs = Number.POSITIVE_INFINITY;
  /** What the latest choice expected: its tokens per millisecond, and the least time of all servers. */
  expected = { speed: 1, leastMs: 0 };
  /** Tokens of calls without a first byte. */
  private waitingTokens = 0;
  /** The same of silent calls, when they were last counted. */
  private silentTokens = 0;
  private silentAtMs = 0;
  /** What was computed lately, and how long that took. */
  private speedTokens = 0;
  private speedMs = 0;
  private speedAtMs = 0;
  private index: PrefixIndex | undefined;
  private promptTokens = 0;
  private cachedTokens = 0;

  /** The share of prompt tokens that the server has reported as cached; undefined without any report. */
  get hitShare(): number | undefined {
    return this.promptTokens > 0 ? this.cachedTokens / this.promptTokens : undefined;
  }

  /** Adds what was measured lately to a sum over servers. */
  addSpeed(sum: { tokens: number; ms: number }, nowMs: number): void {
    const left = this.speedLeft(nowMs);
    sum.tokens += this.speedTokens * left;
    sum.ms += this.speedMs * left;
  }

  /** Tokens per millisecond; near `common`, the speed of all servers, if little was measured lately. */
  speed(common: number, nowMs: number): number {
    const left = this.speedLeft(nowMs);
    return (this.speedTokens * left + COMMON_TOKENS) / (this.speedMs * left + COMMON_TOKENS / common);
  }

  /** The tokens that the server has to compute before those of a new call. */
  ahead(nowMs: number): number {
    const computed = (nowMs - this.silentAtMs) * this.expected.speed;
    return this.waitingTokens + Math.max(0, this.silentTokens - computed);
  }

  /** How many blocks of a prompt it probably has in its cache. */
  knownBlocks({ blocks }: PromptBlocks): number {
    return this.index ? this.index.known(blocks) : 0;
  }

  /** A call begins, and its prompt will be in the cache. */
  begin(work: CallWork, nowMs: number): WorkingCall {
    const known = this.knownBlocks(work);
    const tokens = uncachedTokens(work, known);
    const aheadTokens = this.ahead(nowMs) + tokens;
    if (work.isSilent) {
      this.silentTokens = aheadTokens - this.waitingTokens;
      this.silentAtMs = nowMs;
    } else this.waitingTokens += tokens;
    if (work.blocks.length > 0) this.indexToUse().add(work.blocks);
    return {
      promptTokens: work.tokens,
      blocks: work.blocks.length,
      known,
      hasKey: work.key !== undefined,
      tokens,
      aheadTokens,
      startMs: nowMs,
      isWaiting: !work.isSilent,
    };
  }

  /** The first byte of a response has arrived. */
  answered(call: WorkingCall, nowMs: number): void {
    if (!call.isWaiting) return;
    this.ended(call);
    if (call.promptTokens === 0) return;
    const ms = nowMs - call.startMs;
    this.leastMs = Math.min(this.leastMs, ms);
    const computingMs = Math.max(0, ms - this.expected.leastMs);
    const left = this.speedLeft(nowMs);
    const isSlow = computingMs * this.expected.speed > call.aheadTokens;
    const weight = isSlow ? SLOW_WEIGHT : 1;
    this.speedTokens = this.speedTokens * left + call.aheadTokens * weight;
    this.speedMs = this.speedMs * left + computingMs * weight;
    this.speedAtMs = nowMs;
  }

  /** A call has ended; it may be called after `answered`. */
  ended(call: WorkingCall): void {
    if (!call.isWaiting) return;
    call.isWaiting = false;
    this.waitingTokens = Math.max(0, this.waitingTokens - call.tokens);
  }

  /** The server has reported how much of a prompt was cached. */
  reported(call: WorkingCall, { all, cached }: CountedPrompt): void {
    const share = cached / all;
    const left = Math.max(0, 1 - all / SHARE_TOKENS);
    this.promptTokens = this.promptTokens * left + all;
    this.cachedTokens = this.cachedTokens * left + cached;
    const { known } = call;
    const blocks = Math.min(call.blocks, Math.floor((share * call.promptTokens) / TOKENS_PER_BLOCK));
    if (blocks < known - NEAR_BLOCKS) this.index?.shrink();
    else if (blocks > known + NEAR_BLOCKS) this.index?.grow();
  }

  /** The server may have been started again, without what it had. */
  forget(): void {
    this.index = undefined;
    indexed.delete(this);
  }

  private indexToUse(): PrefixIndex {
    const index = this.index ?? new PrefixIndex();
    this.index = index;
    indexed.delete(this);
    indexed.add(this);
    if (indexed.size > MOST_INDEXES) indexed.values().next().value?.forget();
    return index;
  }

  /** How much of the latest measurements still counts. */
  private speedLeft(nowMs: number): number {
    return Math.exp((this.speedAtMs - nowMs) / SPEED_MS);
  }
}
