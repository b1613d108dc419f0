import type { Catalog, Model } from '@svc/catalog';
import type { ChatRequest, SvcParametersEcho } from '@svc/api/chat';
import { type Price, chargeLine } from '@svc/contracts/messages';
import { PAGES_PER_SEARCH } from '@svc/contracts/ports';
import { type Issue, invalidRequest } from '@svc/contracts/problems';
import { type SearchPrices, extraPrice, searchPrices } from '@svc/paid/paid';
import { needsSearch } from './search-need.js';
import { messageText, searchQuery } from './search-query.js';
import { type SearchTool, searchTool } from './search-tool.js';
import { estimateTokens } from '../tokens/tokens.js';
import { urlsIn } from './message-urls.js';

/** How a client wants a search to be made. */
export interface SearchTerms {
  /** How much of the prompt the results may take. */
  readonly size?: keyof typeof SIZES | undefined;
  /** Where the user is, as two capital letters. */
  readonly country?: string | undefined;
  /** A search of posts, in xAI's terms. */
  readonly posts?:
    | {
        readonly members: object;
        /** The member of the request that restricts it, if any does. */
        readonly restriction: Issue['path'] | undefined;
      }
    | undefined;
}

/** What sizes of a search do to the catalogue's number of results and of tokens. */
const SIZES = { low: 0.5, medium: 1, high: 2 } as const;

interface PlanTerms {
  /** Whether the response cites its sources. */
  readonly cites: boolean;
  /** The most tokens added to the prompt. */
  readonly tokensAtMost: number;
  /** The highest price, in nano-dollars. */
  readonly priceAtMostNano: bigint;
}

/** A search by this service. */
export interface SearchPlan extends PlanTerms {
  readonly kind: 'search';
  /** The search query. Without one there is no search, and `skipped` has the reason. */
  readonly query: string | undefined;
  readonly skipped: string | undefined;
  /** The number of pages to find. */
  readonly count: number;
  readonly country: string | undefined;
  readonly prices: SearchPrices;
  /** The tool by which the model requested the search, if it did. */
  readonly calledBy?: SearchTool;
}

/** A search that the model may request. */
export interface OfferPlan extends PlanTerms {
  readonly kind: 'offer';
  readonly tool: SearchTool;
  /** The search to make when the tool is called. */
  readonly search: SearchPlan;
}

/** Pages named in a message, to be read for the response. */
export interface PagesPlan extends PlanTerms {
  readonly kind: 'pages';
  readonly urls: readonly string[];
  /** The reason why no page is read. */
  readonly skipped: string | undefined;
  readonly price: Price;
}

/** A search that the model's provider performs itself. */
interface NativePlan extends PlanTerms {
  readonly kind: 'native';
  readonly price: Price;
  /** The members of the backend request that start it. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** What a request needs from the web, with its highest price and size. */
export type WebPlan = SearchPlan | OfferPlan | PagesPlan | NativePlan;

/** The members by which xAI searches the web and posts. */
export const XAI_MEMBERS = {
  search_parameters: { mode: 'on', return_citations: true, sources: [{ type: 'web' }, { type: 'x' }] },
};

interface WebRequest {
  readonly request: ChatRequest;
  readonly parameters: SvcParametersEcho;
  readonly model: Model;
  /** Estimated tokens of the prompt without anything from the web. */
  readonly promptTokens: number;
  readonly outputTokensAtMost: number;
  readonly terms?: SearchTerms | undefined;
}

/** The share of a model's context that results may fill. */
const CONTEXT_SHARE = 0.25;

/** With less room than this, no search is made. */
const LEAST_TOKENS = 200;

/** With fewer output tokens, there is no room for both a tool call and a response. */
const LEAST_OUTPUT_TOKENS = 256;

/** The most tools that backends accept. */
const TOOLS_AT_MOST = 128;

/** The most pages to read for one message. */
const PAGES_AT_MOST = 5;

/**
 * Returns undefined if the request needs nothing from the web. Pages named in the last message take
 * precedence over a search by the provider, which takes precedence over a search by this service.
 */
export function planWeb(chat: WebRequest, catalog: Catalog): WebPlan | undefined {
  return planPages(chat, catalog) ?? planNative(chat, catalog) ?? planSearch(chat, catalog);
}

/** Refuses, with INVALID_REQUEST, restrictions that the model's provider has no members for. */
function planNative({ parameters, model, terms }: WebRequest, catalog: Catalog): NativePlan | undefined {
  if (!parameters.enable_x_search) return undefined;
  const members = restricted(model.xSearch?.members ?? XAI_MEMBERS, { model, posts: terms?.posts });
  const price = extraPrice('xSearch', catalog);
  const priceAtMostNano = chargeLine(price, 1).amountNano;
  // The provider cites in its own way, and adds its findings to the prompt itself.
  return { kind: 'native', members, price, cites: false, tokensAtMost: 0, priceAtMostNano };
}

function restricted(
  members: Readonly<Record<string, unknown>>,
  { model, posts }: Pick<WebRequest, 'model'> & Pick<SearchTerms, 'posts'>,
): Readonly<Record<string, unknown>> {
  if (!posts) return members;
  const { search_parameters: ours } = members;
  if (typeof ours === 'object' && ours !== null)
    return { ...members, search_parameters: { ...ours, ...posts.members } };
  if (!posts.restriction) return members;
  const message = `${model.id} cannot restrict a search of posts; leave it out`;
  throw invalidRequest([{ code: 'custom', path: posts.restriction, message }]);
}

function planPages(chat: WebRequest, catalog: Catalog): PagesPlan | undefined {
  const { parameters, request } = chat;
  if (!parameters.enable_web_scraping) return undefined;
  const last = request.messages.findLast(({ role }) => role === 'user');
  const urls = last ? urlsIn(messageText(last), PAGES_AT_MOST) : [];
  if (urls.length === 0) return undefined;
  const tokensAtMost = Math.min(catalog.scraping.budgetTokens, roomIn(chat));
  const price = extraPrice('webPage', catalog);
  const plan = { kind: 'pages' as const, urls, price, cites: parameters.enable_web_citations };
  const skipped = tokensAtMost < LEAST_TOKENS ? 'the conversation leaves no room for it' : undefined;
  if (skipped !== undefined) return { ...plan, skipped, tokensAtMost: 0, priceAtMostNano: 0n };
  return { ...plan, skipped, tokensAtMost, priceAtMostNano: chargeLine(price, urls.length).amountNano };
}

function planSearch(chat: WebRequest, catalog: Catalog): SearchPlan | OfferPlan | undefined {
  const { search } = catalog;
  const { parameters, request } = chat;
  if (!search || parameters.enable_web_search === 'off') return undefined;
  const prices = searchPrices(search, catalog);
  const cites = parameters.enable_web_citations;
  const { size = 'medium', country } = chat.terms ?? {};
  const count = Math.min(Math.ceil(search.results * SIZES[size]), PAGES_PER_SEARCH);
  const terms = { kind: 'search' as const, count, country, prices, cites };
  const tokensAtMost = Math.min(Math.ceil(search.budgetTokens * SIZES[size]), roomIn(chat));
  const query = searchQuery(request.messages);
  const skipped = reasonToSkip({ ...chat, query, tokensAtMost });
  const isOffered = parameters.enable_web_search === 'auto' && skipped === undefined && canCall(chat);
  if (parameters.enable_web_search === 'auto' && !isOffered && !needsSearch(request.messages, new Date()))
    return undefined;
  if (skipped !== undefined || query === undefined) {
    return { ...terms, tokensAtMost: 0, priceAtMostNano: 0n, query: undefined, skipped };
  }
  const priceAtMostNano = chargeLine(prices.highest, 1).amountNano;
  const plan = { ...terms, query, skipped, tokensAtMost, priceAtMostNano };
  return isOffered ? offer(plan, request) : plan;
}

/** Only the tokens of the tool are held for at first. A search is held for when the model requests it. */
function offer(search: SearchPlan, request: ChatRequest): OfferPlan {
  const tool = searchTool(request);
  const { cites } = search;
  const tokensAtMost = estimateTokens(Buffer.byteLength(JSON.stringify([tool])));
  return { kind: 'offer', tool, search, cites, tokensAtMost, priceAtMostNano: 0n };
}

/** The plan of a search that the model has requested. */
export function calledSearch({ search, tool }: OfferPlan, query: string | undefined): SearchPlan {
  return { ...search, query: query ?? search.query, calledBy: tool };
}

/**
 * Whether a model can request a search: it supports tools, the request is for a single text with room for a
 * tool call, the last message is a user's or a tool's, and the client leaves the choice of tools to the
 * model. Otherwise `needsSearch` decides.
 */
function canCall({ model, request, outputTokensAtMost }: WebRequest): boolean {
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

/** The most tokens that may be added to a prompt. */
function roomIn({ model: { contextTokens }, promptTokens }: WebRequest): number {
  return Math.floor(Math.min(contextTokens * CONTEXT_SHARE, contextTokens - promptTokens));
}

function reasonToSkip({
  request,
  query,
  tokensAtMost,
}: WebRequest & { query: string | undefined; tokensAtMost: number }): string | undefined {
  const last = request.messages.findLast(({ role }) => role === 'user');
  if (Array.isArray(last?.content) && last.content.some(({ type }) => type === 'image_url'))
    return 'the last message has an image';
  if (query === undefined) return 'the last message has no words to search for';
  return tokensAtMost < LEAST_TOKENS ? 'the conversation leaves no room for results' : undefined;
}
