import { BLOCK_TOKENS } from '../request/prompt.js';
import type { Prompt } from '../request/prompt.js';

/**
 * Records which blocks of prompts were computed, up to `capacity` blocks; the least recently used are dropped
 * first.
 */
export class PrefixCache {
  private readonly blocks = new Set<number>();

  constructor(
    readonly capacity: number,
    readonly minTokens: number,
  ) {}

  /**
   * The tokens of the prompt's longest cached prefix: whole blocks, at least `minTokens`, else 0. The last
   * token is always computed again, as in real engines, so it never counts as cached.
   */
  cachedTokens(prompt: Prompt): number {
    const usable = Math.floor((prompt.tokens - 1) / BLOCK_TOKENS);
    let hits = 0;
    while (hits < usable && this.has(prompt.blocks[hits])) hits++;
    const tokens = hits * BLOCK_TOKENS;
    return tokens >= this.minTokens ? tokens : 0;
  }

  /** Adds the prompt's blocks and returns how many of their tokens were new. */
  write(prompt: Prompt): number {
    let written = 0;
    // Last block first: a prefix must outlive the blocks after it.
    for (const block of prompt.blocks.toReversed()) {
      if (!this.blocks.delete(block)) written++;
      this.blocks.add(block);
    }
    this.evict();
    return written * BLOCK_TOKENS;
  }

  private has(block: number | undefined): boolean {
    return block !== undefined && this.blocks.has(block);
  }

  private evict(): void {
    for (const oldest of this.blocks) {
      if (this.blocks.size <= this.capacity) return;
      this.blocks.delete(oldest);
    }
  }
}
