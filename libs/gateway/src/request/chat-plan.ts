import {
  type AdmitRequest,
  type Caller,
  type ChatRequest,
  type InferenceCall,
  Problem,
  type SvcParametersEcho,
} from '@svc/contracts';
import type { Catalog, JsonText, Model } from '@svc/runtime';
import { checkCapabilities } from './capability-gates.js';
import { jsonObject } from '../json/json-members.js';
import { limitsOf } from '../limits/limits-of.js';
import { type DeprecationNotice, findTextModel } from '../models/model-lookup.js';
import { refuseAnonymous } from '../models/model-privacy.js';
import { effectiveParameters, refuseUnavailable } from '../models/svc-parameters.js';
import { checkedText } from './request-text.js';
import { type ThinkingPlan, planThinking, tellBackend } from './thinking-plan.js';
import { estimatePromptTokens } from '../tokens/tokens.js';
import { type OfferedTool, tellTools } from './tool-members.js';
import {
  type OfferPlan,
  type SearchPlan,
  type WebPlan,
  XAI_MEMBERS,
  calledSearch,
  planWeb,
} from '../web/web-plan.js';

/** What a request comes to: which model, under which options, at what size. */
export interface ChatPlan {
  readonly accountId: string;
  readonly model: Model;
  /** What a client is told when it asked for a model that goes or has gone. */
  readonly deprecation: DeprecationNotice | undefined;
  readonly limits: AdmitRequest['limits'];
  readonly parameters: SvcParametersEcho;
  readonly thinking: ThinkingPlan;
  readonly stream: boolean;
  readonly choices: number;
  /** Of what the client sent, estimated. */
  readonly promptTokens: number;
  /** What is to be found on the web, and the most that it adds to prompt and price; without it nothing. */
  readonly web?: WebPlan | undefined;
  /** The most output tokens of all choices together. */
  readonly outputTokensAtMost: number;
  /** What the client sent, as its schema reads it, and as JSON that holds nothing but what was checked. */
  readonly request: ChatRequest;
  readonly json: JsonText;
  /** The members of that JSON, each as its text. */
  readonly members: ReadonlyMap<string, string>;
  readonly cacheKey: string | undefined;
}

/** Members of a request that are for this service and not for a backend. */
const OWN_MEMBERS = ['model', 'svc_parameters', 'user', 'store', 'include', 'metadata', 'fallbacks'];

/**
 * What backends take for another limit of the output, or for another number of choices, beside the names of OpenAI:
 * llama.cpp lets `n_predict` and `n_cmpl` win, others have the rest. Nobody has paid for what they ask for.
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

/**
 * Reads what is asked. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE, PRO_ONLY_MODEL, UNAUTHORIZED, NOT_AVAILABLE,
 * INVALID_REQUEST.
 */
export function planChat(
  request: ChatRequest,
  from: { json: JsonText; caller: Caller },
  catalog: Catalog,
): ChatPlan {
  const { text, members } = checkedText(from.json.text, request);
  const { model, suffix, deprecation } = findTextModel(request.model, catalog);
  if (model.paidOnly && !from.caller.paid) throw new Problem('PRO_ONLY_MODEL', { param: 'model' });
  refuseAnonymous(from.caller, model);
  const wanted = effectiveParameters(request.svc_parameters, suffix);
  const parameters = {
    ...wanted,
    enable_e2ee: wanted.enable_e2ee && model.capabilities.supportsE2EE === true,
  };
  refuseUnavailable(parameters, { search: catalog.search, model });
  checkCapabilities(request, model);
  const asked = outputLimit(request);
  const choices = request.n ?? 1;
  const stream = request.stream ?? false;
  const thinking = planThinking({ request, parameters, model });
  const promptTokens = estimatePromptTokens(request);
  const outputTokensAtMost =
    Math.min(asked ?? model.maxCompletionTokens, model.maxCompletionTokens) * choices;
  return {
    accountId: from.caller.accountId,
    model,
    deprecation,
    limits: limitsOf(from.caller, model, catalog),
    parameters,
    thinking,
    stream,
    choices,
    promptTokens,
    web: planWeb({ request, parameters, model, promptTokens, outputTokensAtMost }, catalog),
    outputTokensAtMost,
    request,
    json: { ...from.json, text },
    members,
    cacheKey: request.prompt_cache_key ?? undefined,
  };
}

/** A plan whose model has asked for a search. */
export type CalledPlan = ChatPlan & { readonly web: SearchPlan };

/** What a model that is offered a search has done so far. */
interface Called {
  readonly offer: OfferPlan;
  /** What it searches for, where it has said so. */
  readonly query: string | undefined;
  /** Of all that it is to be shown but for what is found, estimated. */
  readonly promptTokens: number;
  /** What it has said so far counts against what it may say. */
  readonly usedTokens: number;
}

/** The plan of asking a model anew that has called the tool for searching. */
export function planAfterCall(
  plan: ChatPlan,
  { offer, query, promptTokens, usedTokens }: Called,
): CalledPlan {
  const outputTokensAtMost = Math.max(plan.outputTokensAtMost - usedTokens, 1);
  return { ...plan, promptTokens, outputTokensAtMost, web: calledSearch(offer, query) };
}

/** The tool for searching, where the model is offered it or has called it. */
export function offeredTool({ web }: Pick<ChatPlan, 'web'>): OfferedTool | undefined {
  if (web?.kind === 'offer') return { tool: web.tool, isCalled: false };
  return web?.kind === 'search' && web.calledBy ? { tool: web.calledBy, isCalled: true } : undefined;
}

/** How a backend is asked. */
export interface BackendRequest {
  readonly stream: boolean;
  /** JSON in place of the client's, where something was made of them; its long strings are beside the plan's text. */
  readonly messages: string | undefined;
  /** Of the prompt with them, estimated. */
  readonly promptTokens: number;
}

/** A plan as the router wants it. */
export async function inferenceCall(
  plan: ChatPlan,
  { requestId, accountId }: Pick<InferenceCall, 'requestId' | 'accountId'>,
  asked: BackendRequest,
): Promise<InferenceCall> {
  const body = await plan.json.strings.bytesOf(backendBody(plan, asked));
  const call = { requestId, accountId, model: plan.model.id, body };
  return plan.cacheKey === undefined ? call : { ...call, cacheKey: plan.cacheKey };
}

/** The client's limit of output tokens per choice; zero or less is as good as none. */
function outputLimit(request: ChatRequest): number | undefined {
  const limit = request.max_completion_tokens ?? request.max_tokens;
  return limit !== null && limit !== undefined && limit > 0 ? limit : undefined;
}

/** The request as the backend gets it: every member that is not ours, in the bytes it came in. */
function backendBody(plan: ChatPlan, { stream, messages, promptTokens }: BackendRequest): string {
  const members = new Map(plan.members);
  if (messages) members.set('messages', messages);
  for (const name of [...OWN_MEMBERS, ...OTHER_LIMITS]) members.delete(name);
  tellLimit(members, plan, promptTokens);
  tellTools(members, plan.request, offeredTool(plan));
  tellBackend(members, plan.thinking, plan.model);
  tellSearch(members, plan);
  members.delete('stream_options');
  members.set('stream', String(stream));
  if (stream) members.set('stream_options', '{"include_usage":true}');
  return jsonObject(members);
}

/**
 * Members that make the backend search. Without `enable_x_search` the caller's own are left out, because the search that
 * they start would not be paid for. With it they are merged into ours.
 */
function tellSearch(members: Map<string, string>, { web, model }: ChatPlan): void {
  if (model.capabilities.supportsXSearch !== true) return;
  const wanted = web?.kind === 'native' ? web.members : {};
  for (const name of Object.keys(model.xSearch?.members ?? XAI_MEMBERS)) {
    const own = members.get(name);
    members.delete(name);
    if (name in wanted) members.set(name, JSON.stringify(mergedMember(wanted[name], own)));
  }
}

/**
 * An object of the caller's completes ours. Our plain values win: they switch the search on that is charged, and ask for
 * its citations. Our lists, such as sources, are defaults that the caller may replace.
 */
function mergedMember(ours: unknown, text: string | undefined): unknown {
  const own: unknown = text === undefined ? undefined : JSON.parse(text);
  if (!isObject(ours) || !isObject(own)) return ours;
  const fixed = Object.entries(ours).filter(([, value]) => typeof value !== 'object' || value === null);
  return { ...ours, ...own, ...Object.fromEntries(fixed) };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Of the estimate of a prompt, so much more may be the prompt where it has to fit beside the output. */
const PROMPT_MARGIN = 1.1;

/**
 * A backend is always told where to end: the least of what the client asks for and what the model may give, and without
 * a limit of the client's also of what its context has room for. When a client gives both names the newer one wins, and
 * backends may refuse to see two.
 */
function tellLimit(members: Map<string, string>, plan: ChatPlan, promptTokens: number): void {
  const name = Number(members.get('max_completion_tokens')) > 0 ? 'max_completion_tokens' : 'max_tokens';
  members.delete('max_tokens');
  members.delete('max_completion_tokens');
  const most = plan.outputTokensAtMost / plan.choices;
  const room = Math.floor(plan.model.contextTokens - promptTokens * PROMPT_MARGIN);
  const isAsked = outputLimit(plan.request) !== undefined;
  members.set(name, String(isAsked ? most : Math.min(most, Math.max(room, 1))));
}
