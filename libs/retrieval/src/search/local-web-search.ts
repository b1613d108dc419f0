import type { Catalog } from '@svc/catalog';
import type { Search, SearchProvider } from '@svc/contracts/catalog';
import { SearchFailed, type WebQuery, type WebResults, WebSearch } from '@svc/contracts/ports';
import type { Logger } from '@svc/runtime';
import type { RedisConnection } from '@svc/storage';
import { SPAN_KIND, traced } from '@svc/telemetry';
import { Agent } from 'undici';
import { RESPONSE_LIMIT_BYTES, callProvider } from './call-provider.js';
import { foundPages } from './found-pages.js';
import { ProviderFault, type Provider } from './provider.js';
import { type ProviderSettings, providerOf } from './provider-kinds.js';
import { LocalResultCache, type ResultCache, SharedResultCache } from './result-cache.js';

export interface WebSearchSettings extends ProviderSettings {
  readonly catalog: Catalog;
  readonly log: Logger;
  /** The cache shared with other processes; without it, results are cached locally. */
  readonly redis?: RedisConnection | undefined;
}

/** The search settings of a catalogue, with its providers. */
interface Offer {
  readonly search: Search;
  readonly providers: readonly Provider[];
  readonly cache: ResultCache | undefined;
}

/** Calls the providers of the catalogue one after the other until one finds something. */
export class LocalWebSearch extends WebSearch {
  private readonly agent = new Agent({ maxResponseSize: RESPONSE_LIMIT_BYTES, connections: 64 });
  private offer: Offer | undefined;
  /** The end of each provider's rest, by name. */
  private readonly restsUntilMs = new Map<string, number>();

  constructor(private readonly settings: WebSearchSettings) {
    super();
    const { catalog } = settings;
    catalog.onReplaced(() => this.take(catalog.search));
    this.take(catalog.search);
  }

  override async search(query: WebQuery, signal?: AbortSignal): Promise<WebResults> {
    signal?.throwIfAborted();
    const { offer } = this;
    if (!offer) throw new SearchFailed('this deployment searches nowhere');
    const key = JSON.stringify([query.text.toLowerCase(), query.count, query.country]);
    const known = await offer.cache?.get(key);
    if (known) return known;
    const results = await this.queryProviders(offer, query, signal ?? new AbortController().signal);
    if (results.pages.length > 0) offer.cache?.set(key, results);
    return results;
  }

  async close(): Promise<void> {
    this.settings.redis?.disconnect();
    await this.agent.close();
  }

  private take(search: Search | undefined): void {
    this.restsUntilMs.clear();
    if (!search) {
      this.offer = undefined;
      return;
    }
    const { cacheEntries: entriesAtMost, cacheSeconds } = search;
    const providers = search.providers.flatMap((entry) => this.provider(entry) ?? []);
    const lifetimeMs = cacheSeconds * 1_000;
    const bounds = { entriesAtMost, lifetimeMs };
    this.offer = { search, providers, cache: lifetimeMs === 0 ? undefined : this.cache(bounds) };
  }

  private cache(bounds: { entriesAtMost: number; lifetimeMs: number }): ResultCache {
    const { redis, log } = this.settings;
    return redis ? new SharedResultCache(bounds, redis, log) : new LocalResultCache(bounds);
  }

  private provider(entry: SearchProvider): Provider | undefined {
    const provider = providerOf(entry, this.settings);
    const { kind, name = kind } = entry;
    if (!provider) this.settings.log.warn({ provider: name }, 'a search provider has no API key or URL');
    return provider;
  }

  private async queryProviders(
    { search, providers }: Offer,
    { accountId: _, ...query }: WebQuery,
    signal: AbortSignal,
  ): Promise<WebResults> {
    const endMs = performance.now() + search.deadlineMs;
    let empty: WebResults | undefined;
    let fault: ProviderFault | undefined;
    for (const provider of this.awake(providers)) {
      const deadlineMs = endMs - performance.now();
      if (deadlineMs <= 0) break;
      try {
        const call = { query, deadlineMs, signal };
        const raw = await traced(`search ${provider.name}`, (step) => {
          if (step) step.kind = SPAN_KIND.client;
          return callProvider(this.agent, provider, call);
        });
        const results = { provider: provider.name, pages: foundPages(raw, query.count) };
        if (results.pages.length > 0) return results;
        empty ??= results;
      } catch (error) {
        if (!(error instanceof ProviderFault)) throw error;
        fault = error;
        this.note(provider, error);
      }
    }
    if (empty) return empty;
    throw new SearchFailed('no search provider responded', { cause: fault });
  }

  /** Resting providers are called anyway if there is no other. */
  private awake(providers: readonly Provider[]): readonly Provider[] {
    const nowMs = performance.now();
    const awake = providers.filter(({ name }) => nowMs >= (this.restsUntilMs.get(name) ?? 0));
    return awake.length > 0 ? awake : providers;
  }

  private note({ name }: Provider, fault: ProviderFault): void {
    if (fault.restMs > 0) this.restsUntilMs.set(name, performance.now() + fault.restMs);
    const cause = fault.cause instanceof Error ? fault.cause.message : undefined;
    this.settings.log.warn({ provider: name, fault: fault.message, cause }, 'a search provider failed');
  }
}
