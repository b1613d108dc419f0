import { type ChatRequest, type Search, type SvcParametersEcho, usdToNano } from '@svc/contracts';
import type { Catalog, Model } from '@svc/runtime';
import { needsSearch } from './search-need.js';
import { messageText, searchQuery } from './search-query.js';
import { type SearchTool, searchTool } from './search-tool.js';
import { estimateTokens } from '../tokens/tokens.js';
import { urlsIn } from './message-urls.js';

interface PlanTerms {
  /** Whether the answer names its sources. */
  readonly cites: boolean;
  /** The most tokens that a prompt grows by. */
  readonly tokensAtMost: number;
  /** Nano-dollars. */
  readonly priceAtMostNano: bigint;
}

/** A search that a request wants. */
export interface SearchPlan extends PlanTerms {
  readonly kind: 'search';
  /** What to search for; without it nothing is searched, and `skipped` says why. */
  readonly query: string | undefined;
  readonly skipped: string | undefined;
  /** Pages to find. */
  readonly count: number;
  /** What a search costs that a provider answers, in nano-dollars, by the provider's name. */
  readonly pricesNano: ReadonlyMap<string, bigint>;
  /** The tool by whose call the model has asked for it, where it has. */
  readonly calledBy?: SearchTool;
}

/** A search that is the model's to ask for. */
export interface OfferPlan extends PlanTerms {
  readonly kind: 'offer';
  readonly tool: SearchTool;
  /** What becomes of it when it is called. */
  readonly search: SearchPlan;
}

/** Pages that a message names and a request wants to be read. */
export interface PagesPlan extends PlanTerms {
  readonly kind: 'pages';
  readonly urls: readonly string[];
  /** Why none is read. */
  readonly skipped: string | undefined;
  /** For each that is read. */
  readonly priceNano: bigint;
}

/** A search that the model's provider makes by itself. */
interface NativePlan extends PlanTerms {
  readonly kind: 'native';
  /** What its backends are told. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** What a request wants of the web, and the most that it may take. */
export type WebPlan = SearchPlan | OfferPlan | PagesPlan | NativePlan;

/** How xAI takes the wish for a search of the web and of posts. */
export const XAI_MEMBERS = {
  search_parameters: { mode: 'on', return_citations: true, sources: [{ type: 'web' }, { type: 'x' }] },
};

interface Asked {
  readonly request: ChatRequest;
  readonly parameters: SvcParametersEcho;
  readonly model: Model;
  /** Of the prompt without anything from the web. */
  readonly promptTokens: number;
  readonly outputTokensAtMost: number;
}

/** The part of a model's context that results may fill. */
const CONTEXT_SHARE = 0.25;

/** Less room than this is not worth a search. */
const LEAST_TOKENS = 200;

/** Fewer tokens of output have no room for a call beside an answer. */
const LEAST_OUTPUT_TOKENS = 256;

/** Tools that backends take at the most. */
const TOOLS_AT_MOST = 128;

/** Pages that are read of one message. */
const PAGES_AT_MOST = 5;

/**
 * `undefined` where the request wants nothing. A search of the provider's own takes the place of one of ours, and so do
 * pages that the last message names.
 */
export function planWeb(asked: Asked, catalog: Catalog): WebPlan | undefined {
  return planPages(asked, catalog) ?? planNative(asked, catalog) ?? planSearch(asked, catalog);
}

function planNative({ parameters, model }: Asked, catalog: Catalog): NativePlan | undefined {
  if (!parameters.enable_x_search) return undefined;
  const { members } = model.xSearch ?? { members: XAI_MEMBERS };
  const priceAtMostNano = catalog.extraNano('xSearch');
  // Its provider cites in its own way, and brings what it finds before the model itself.
  return { kind: 'native', members, cites: false, tokensAtMost: 0, priceAtMostNano };
}

function planPages(asked: Asked, catalog: Catalog): PagesPlan | undefined {
  const { parameters, request } = asked;
  if (!parameters.enable_web_scraping) return undefined;
  const last = request.messages.findLast(({ role }) => role === 'user');
  const urls = last ? urlsIn(messageText(last), PAGES_AT_MOST) : [];
  if (urls.length === 0) return undefined;
  const tokensAtMost = Math.min(catalog.scraping.budgetTokens, roomIn(asked));
  const priceNano = catalog.extraNano('webPage');
  const plan = { kind: 'pages' as const, urls, priceNano, cites: parameters.enable_web_citations };
  const skipped = parameters.enable_e2ee
    ? 'no page is read for an encrypted request'
    : tokensAtMost < LEAST_TOKENS
      ? 'the conversation leaves no room for it'
      : undefined;
  if (skipped !== undefined) return { ...plan, skipped, tokensAtMost: 0, priceAtMostNano: 0n };
  return { ...plan, skipped, tokensAtMost, priceAtMostNano: priceNano * BigInt(urls.length) };
}

function planSearch(asked: Asked, catalog: Catalog): SearchPlan | OfferPlan | undefined {
  const { search } = catalog;
  const { parameters, request } = asked;
  if (!search || parameters.enable_web_search === 'off') return undefined;
  const terms = { kind: 'search' as const, count: search.results, cites: parameters.enable_web_citations };
  const tokensAtMost = Math.min(search.budgetTokens, roomIn(asked));
  const query = searchQuery(request.messages);
  const skipped = reasonToSkip({ ...asked, query, tokensAtMost });
  const isOffered = parameters.enable_web_search === 'auto' && skipped === undefined && canCall(asked);
  if (parameters.enable_web_search === 'auto' && !isOffered && !needsSearch(request.messages, new Date()))
    return undefined;
  if (skipped !== undefined || query === undefined) {
    const nothing = { tokensAtMost: 0, pricesNano: new Map<string, bigint>(), priceAtMostNano: 0n };
    return { ...terms, ...nothing, query: undefined, skipped };
  }
  const { pricesNano, priceAtMostNano } = searchPrices(search, catalog);
  const plan = { ...terms, query, skipped, tokensAtMost, pricesNano, priceAtMostNano };
  return isOffered ? offer(plan, request) : plan;
}

/** Only the tool is paid for at first: what a search takes is held when it is asked for. */
function offer(search: SearchPlan, request: ChatRequest): OfferPlan {
  const tool = searchTool(request);
  const { cites } = search;
  const tokensAtMost = estimateTokens(Buffer.byteLength(JSON.stringify([tool])));
  return { kind: 'offer', tool, search, cites, tokensAtMost, priceAtMostNano: 0n };
}

/** The plan of a search that its model has asked for. */
export function calledSearch({ search, tool }: OfferPlan, query: string | undefined): SearchPlan {
  return { ...search, query: query ?? search.query, calledBy: tool };
}

/**
 * Whether a model can ask for a search by itself: it calls tools, is asked for one free answer with room for a call, the
 * conversation is at its turn, and the client leaves the choice of tools to it. Elsewhere a rule decides.
 */
function canCall({ model, request, outputTokensAtMost }: Asked): boolean {
  const { tool_choice: choice, tools, n, response_format: format, messages } = request;
  const role = messages.at(-1)?.role;
  const word = typeof choice === 'object' && choice ? choice.type : choice;
  return (
    model.capabilities.supportsFunctionCalling === true &&
    (n ?? 1) === 1 &&
    (format?.type ?? 'text') === 'text' &&
    (word ?? 'auto') === 'auto' &&
    (tools?.length ?? 0) < TOOLS_AT_MOST &&
    (role === 'user' || role === 'tool') &&
    outputTokensAtMost >= LEAST_OUTPUT_TOKENS
  );
}

/** Tokens that may be added to a prompt. */
function roomIn({ model: { contextTokens }, promptTokens }: Asked): number {
  return Math.floor(Math.min(contextTokens * CONTEXT_SHARE, contextTokens - promptTokens));
}

function reasonToSkip({
  request,
  parameters,
  query,
  tokensAtMost,
}: Asked & { query: string | undefined; tokensAtMost: number }): string | undefined {
  const last = request.messages.findLast(({ role }) => role === 'user');
  if (parameters.enable_e2ee) return 'an encrypted request is not searched for';
  if (Array.isArray(last?.content) && last.content.some(({ type }) => type === 'image_url'))
    return 'the last message has an image';
  if (query === undefined) return 'the last message has no words to search for';
  return tokensAtMost < LEAST_TOKENS ? 'the conversation leaves no room for results' : undefined;
}

/** What a search costs by each provider's name, and the most of it. */
export function searchPrices(
  { providers }: Search,
  catalog: Catalog,
): Pick<SearchPlan, 'pricesNano' | 'priceAtMostNano'> {
  const usualNano = catalog.extraNano('webSearch');
  const pricesNano = new Map(
    providers.map(({ name, kind, price }) => [
      name ?? kind,
      price === undefined ? usualNano : usdToNano(price),
    ]),
  );
  const priceAtMostNano = [...pricesNano.values()].reduce((most, price) => (price > most ? price : most), 0n);
  return { pricesNano, priceAtMostNano };
}
