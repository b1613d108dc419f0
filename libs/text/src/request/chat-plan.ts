import type { Catalog, Model } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import type { ChatRequest, SvcParametersEcho } from '@svc/api/chat';
import type { EncryptionKeys } from '@svc/contracts/messages';
import type { ChatCall } from '@svc/contracts/inference';
import { boundedJson, type JsonText } from '@svc/runtime';
import { affinityKey } from './affinity.js';
import { checkCapabilities } from './capability-gates.js';
import { jsonObject, dropSteering } from '@svc/paid/json';
import { type ModelSale, sellTextModel } from '@svc/paid/paid';
import { effectiveParameters, refuseUnavailable } from '@svc/paid/models';
import type { EncryptionHeaders } from '@svc/api/tee';
import { encryptedParameters, planEncryption } from './encryption.js';
import { RequestText } from './request-text.js';
import { type ThinkingPlan, planThinking, setThinking } from './thinking-plan.js';
import { plainBytes } from '../tokens/ciphertext.js';
import { estimatePromptTokens } from '../tokens/tokens.js';
import { type AddedTool, setTools } from './tool-members.js';
import {
  type OfferPlan,
  type SearchPlan,
  type SearchTerms,
  type WebPlan,
  XAI_MEMBERS,
  calledSearch,
  planWeb,
} from '../web/web-plan.js';

/** The plan for a request: model, options and size. */
export interface ChatPlan {
  readonly accountId: string;
  /** Whether it is a line of a batch, which waits behind other requests. */
  readonly inBatch: boolean;
  readonly model: Model;
  readonly sale: ModelSale<Model>;
  readonly parameters: SvcParametersEcho;
  readonly thinking: ThinkingPlan;
  readonly stream: boolean;
  readonly choices: number;
  /** Estimated tokens of the client's prompt. */
  readonly promptTokens: number;
  /**
   * What to find on the web, and the most it adds to prompt and price; undefined without a search or pages to
   * read.
   */
  readonly web?: WebPlan | undefined;
  /** The most output tokens of all choices together. */
  readonly outputTokensAtMost: number;
  /** The client's request as parsed by its schema, and its text. */
  readonly request: ChatRequest;
  readonly text: RequestText;
  readonly cacheKey: string | undefined;
  /** The keys of a request whose texts are encrypted. */
  readonly encryption?: EncryptionKeys | undefined;
}

/** Members that this service handles itself and does not send to a backend. */
const OWN_MEMBERS = [
  'model',
  'svc_parameters',
  'user',
  'safety_identifier',
  'store',
  'include',
  'metadata',
  'anon_user_id',
  'models',
  'fallbacks',
  'fallback_on',
];

/**
 * Names other than OpenAI's by which backends take an output limit or a number of choices: llama.cpp gives
 * `n_predict` and `n_cmpl` precedence, other backends use the rest. They are removed, since the tokens they
 * would request have not been paid for.
 */
const OTHER_LIMITS = [
  'n_predict',
  'max_new_tokens',
  'num_predict',
  'max_length',
  'max_gen_len',
  'max_output_tokens',
  'max_tokens_to_sample',
  'n_cmpl',
  'best_of',
];

const NOT_SENT: ReadonlySet<string> = new Set([...OWN_MEMBERS, ...OTHER_LIMITS, 'stream_options']);

/** A request's text, which is checked unless it is given as checked, and who makes the request. */
interface PlannedFrom {
  readonly json: JsonText;
  readonly text?: RequestText;
  readonly caller: Caller;
  readonly encryption?: EncryptionHeaders | undefined;
  /** The session that the headers name. */
  readonly session?: string | undefined;
  /** How to search, if the request wants a search. */
  readonly search?: SearchTerms | undefined;
}

/**
 * Plans a request. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE, PRO_ONLY_MODEL, UNAUTHORIZED,
 * NOT_AVAILABLE, INVALID_REQUEST.
 */
export function planChat(request: ChatRequest, from: PlannedFrom, catalog: Catalog): ChatPlan {
  const { caller, text = RequestText.checked(from.json, request) } = from;
  const { sale, suffix } = sellTextModel(request.model, { caller, catalog });
  const model = soldModel(sale.model, caller.inBatch ? 'batch' : request.service_tier);
  const parameters = effectiveParameters(request.svc_parameters, suffix);
  refuseUnavailable(parameters, { search: catalog.search, model });
  checkCapabilities(request, model);
  const limit = outputLimit(request);
  const choices = request.n ?? 1;
  const stream = request.stream ?? false;
  const thinking = planThinking({ request, parameters, model });
  const encryption = planEncryption({ request, headers: from.encryption, model, parameters, thinking });
  const promptTokens = estimatePromptTokens(request, encryption && plainBytes);
  const outputTokensAtMost =
    Math.min(limit ?? model.maxCompletionTokens, model.maxCompletionTokens) * choices;
  return {
    accountId: caller.accountId,
    inBatch: caller.inBatch === true,
    model,
    sale,
    parameters: encryption ? encryptedParameters(parameters) : parameters,
    // Nothing can be removed from ciphertexts.
    thinking: encryption ? { ...thinking, strip: false } : thinking,
    stream,
    choices,
    promptTokens,
    web: planWeb(
      { request, parameters, model, promptTokens, outputTokensAtMost, terms: from.search },
      catalog,
    ),
    outputTokensAtMost,
    request,
    text,
    cacheKey: affinityKey(request, {
      accountId: caller.accountId,
      session: from.session,
      strings: from.json.strings,
      isEncrypted: encryption !== undefined,
      backends: model.backends,
    }),
    encryption,
  };
}

/** The model in the tier that a request asks for, or in the default one if it does not have that. */
function soldModel(model: Model, tier: ChatRequest['service_tier'] | 'batch'): Model {
  const isOffered = tier === 'flex' || tier === 'priority' || tier === 'batch';
  return (isOffered ? model.inTier?.[tier] : undefined) ?? model;
}

/** Whether a prompt, with the most that the web adds, and the requested output fit into the context. */
export function fitsContext({
  model,
  promptTokens,
  web,
  choices,
  outputTokensAtMost,
  request,
}: ChatPlan): boolean {
  const outputTokens = outputLimit(request) === undefined ? 1 : outputTokensAtMost / choices;
  return promptTokens + (web?.tokensAtMost ?? 0) + outputTokens <= model.contextTokens;
}

/** A plan whose model has called the search tool. */
export type CalledPlan = ChatPlan & { readonly web: SearchPlan };

/** The state of a response whose model was offered a search. */
interface Called {
  readonly offer: OfferPlan;
  /** The search query, if the model gave one. */
  readonly query: string | undefined;
  /** Estimated tokens of the follow-up prompt, without the search results. */
  readonly promptTokens: number;
  /** Output tokens used so far; they count against the output limit. */
  readonly usedTokens: number;
}

/** The plan of the follow-up call after the model has called the search tool. */
export function planAfterCall(
  plan: ChatPlan,
  { offer, query, promptTokens, usedTokens }: Called,
): CalledPlan {
  const outputTokensAtMost = Math.max(plan.outputTokensAtMost - usedTokens, 1);
  return { ...plan, promptTokens, outputTokensAtMost, web: calledSearch(offer, query) };
}

/** The search tool, if the model is offered it or has called it. */
export function addedTool({ web }: Pick<ChatPlan, 'web'>): AddedTool | undefined {
  if (web?.kind === 'offer') return { tool: web.tool, isCalled: false };
  return web?.kind === 'search' && web.calledBy ? { tool: web.calledBy, isCalled: true } : undefined;
}

/** The parts of a backend call that differ from the client's request. */
export interface BackendRequest {
  readonly stream: boolean;
  /** Estimated tokens of the prompt that is sent. */
  readonly promptTokens: number;
}

/** The body of a backend call for a plan; a promise only if it has long strings. */
export function chatBody(
  plan: ChatPlan,
  request: BackendRequest,
): readonly Uint8Array[] | Promise<readonly Uint8Array[]> {
  return plan.text.strings.bytesOf(backendBody(plan, request));
}

/** How lines of batches wait for a model that is not sold in a tier for them. */
const BEHIND_OTHERS = { band: 'background', weight: 1 } as const;

/** The router's call for a plan. */
export function chatCall(
  { model, encryption, cacheKey, inBatch }: ChatPlan,
  { requestId, accountId }: Pick<ChatCall, 'requestId' | 'accountId'>,
  body: readonly Uint8Array[],
): ChatCall {
  const share = model.soldTier ?? (inBatch ? BEHIND_OTHERS : undefined);
  const call = {
    requestId,
    accountId,
    model: model.id,
    body,
    ...(share && { share: { band: share.band, weight: share.weight } }),
    ...(encryption && { encryption }),
  };
  return cacheKey === undefined ? call : { ...call, cacheKey };
}

/** The client's limit of output tokens per choice; zero or less counts as no limit. */
function outputLimit(request: ChatRequest): number | undefined {
  const limit = request.max_completion_tokens ?? request.max_tokens;
  return limit !== null && limit !== undefined && limit > 0 ? limit : undefined;
}

/** The request body for the backend: every member that is not handled here, byte for byte. */
function backendBody(plan: ChatPlan, { stream, promptTokens }: BackendRequest): string {
  const members = new Map<string, string>();
  for (const [name, text] of plan.text.members) if (!NOT_SENT.has(name)) members.set(name, text);
  const searching = plan.web?.kind === 'native' ? Object.keys(plan.web.members) : [];
  dropSteering(members, { extraFields: [...plan.model.extraFields, ...searching] });
  setLimit(members, plan, promptTokens);
  setTools(members, plan.request, addedTool(plan));
  setThinking(members, plan.thinking, plan.model);
  setSearch(members, plan);
  members.set('stream', String(stream));
  if (stream) members.set('stream_options', '{"include_usage":true}');
  return jsonObject(members);
}

/**
 * Sets the members that make the backend search. Without `enable_x_search` the caller's own members are
 * removed, because the search that they start would not be paid for. With it they are merged into ours.
 */
function setSearch(members: Map<string, string>, { web, model }: ChatPlan): void {
  if (model.capabilities.supportsXSearch !== true) return;
  const wanted = web?.kind === 'native' ? web.members : {};
  for (const name of Object.keys(model.xSearch?.members ?? XAI_MEMBERS)) {
    const own = members.get(name);
    members.delete(name);
    if (name in wanted) members.set(name, JSON.stringify(mergedMember(wanted[name], own)));
  }
}

/**
 * An object of the caller's extends ours. Our plain values win: they switch on the search that is charged,
 * and request its citations. Our lists, such as sources, are defaults that the caller may replace.
 */
function mergedMember(ours: unknown, text: string | undefined): unknown {
  const own: unknown = text === undefined ? undefined : boundedJson(text);
  if (!isObject(ours) || !isObject(own)) return ours;
  const fixed = Object.entries(ours).filter(([, value]) => typeof value !== 'object' || value === null);
  return { ...ours, ...own, ...Object.fromEntries(fixed) };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Safety factor on the estimated prompt size when prompt and output must fit into the context together. */
const PROMPT_MARGIN = 1.1;

/**
 * Always sets an output limit for the backend: the lower of the client's limit and the model's. If the client
 * sets no limit, also the room left in the context. If a client sends both names, the newer one wins, and
 * only one is sent, since backends may reject two.
 */
function setLimit(members: Map<string, string>, plan: ChatPlan, promptTokens: number): void {
  const name = Number(members.get('max_completion_tokens')) > 0 ? 'max_completion_tokens' : 'max_tokens';
  members.delete('max_tokens');
  members.delete('max_completion_tokens');
  const most = plan.outputTokensAtMost / plan.choices;
  const room = Math.floor(plan.model.contextTokens - promptTokens * PROMPT_MARGIN);
  const isRequested = outputLimit(plan.request) !== undefined;
  members.set(name, String(isRequested ? most : Math.min(most, Math.max(room, 1))));
}
