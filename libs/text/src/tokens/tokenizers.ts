import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Catalog, type Model } from '@svc/catalog';
import type { TokenizerName } from '@svc/contracts/catalog';
import { RootLogger } from '@svc/runtime';
import { Tokenizer } from './tokenizer.js';

/** Cached words per vocabulary. The library's own bound is 100,000 of any length. */
const REMEMBERED_WORDS = 4_096;

/** Counts text that looks like special tokens as ordinary text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

const VOCABULARIES = {
  o200k_base: () => import('gpt-tokenizer/encoding/o200k_base'),
  o200k_harmony: () => import('gpt-tokenizer/encoding/o200k_harmony'),
  cl100k_base: () => import('gpt-tokenizer/encoding/cl100k_base'),
} satisfies Record<TokenizerName, () => Promise<unknown>>;

/**
 * The vocabularies named in the catalogue. They are loaded with the catalogue, never for a request: loading
 * one blocks the process for 0.1 to 0.2 s, and takes 40 to 65 MB for the lifetime of the process.
 */
@Injectable()
export class Tokenizers implements OnModuleInit {
  private readonly loaded = new Map<TokenizerName, Tokenizer>();

  constructor(
    private readonly catalog: Catalog,
    private readonly logger: RootLogger,
  ) {}

  async onModuleInit(): Promise<void> {
    // A failed load is logged there.
    this.catalog.onReplaced(() => void this.load());
    await this.load();
  }

  /** The tokenizer of a model; undefined if its tokens are estimated. */
  for({ tokenizer }: Model): Tokenizer | undefined {
    return tokenizer && this.loaded.get(tokenizer);
  }

  private async load(): Promise<void> {
    const named = new Set(this.catalog.text.list.map(({ tokenizer }) => tokenizer));
    for (const name of named) {
      if (name === undefined || this.loaded.has(name)) continue;
      try {
        this.loaded.set(name, await loadTokenizer(name));
      } catch (error) {
        this.logger.log.error({ tokenizer: name, err: error }, 'a tokenizer could not be loaded');
      }
    }
  }
}

/** Loads a vocabulary into memory. */
export async function loadTokenizer(name: TokenizerName): Promise<Tokenizer> {
  const { countTokens, setMergeCacheSize } = await VOCABULARIES[name]();
  setMergeCacheSize(REMEMBERED_WORDS);
  return new Tokenizer((text) => countTokens(text, AS_TEXT));
}
