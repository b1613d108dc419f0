import {
  type AdmitRequest,
  type Caller,
  type ChatRequest,
  type InferenceCall,
  Problem,
  type SvcParametersEcho,
} from '@svc/contracts';
import type { Catalog, Model } from '@svc/runtime';
import { checkCapabilities } from './capability-gates.js';
import { jsonMembers, jsonObject } from '../json/json-members.js';
import { limitsOf } from '../limits/limits-of.js';
import { type DeprecationNotice, findTextModel } from '../models/model-lookup.js';
import { refuseAnonymous } from '../models/model-privacy.js';
import { effectiveParameters, refuseUnavailable } from '../models/svc-parameters.js';
import { checkedText } from './request-text.js';
import { type ThinkingPlan, planThinking, tellBackend } from './thinking-plan.js';
import { estimatePromptTokens } from '../tokens/tokens.js';
import { tellTools } from './tool-members.js';

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
  /** Estimated before the backend has counted. */
  readonly promptTokens: number;
  /** The most output tokens of all choices together. */
  readonly outputTokensAtMost: number;
  /** What the client sent, as its schema reads it, and as JSON that holds nothing but what was checked. */
  readonly request: ChatRequest;
  readonly text: string;
  readonly cacheKey: string | undefined;
}

/** Members of a request that are for this service and not for a backend. */
const OWN_MEMBERS = ['model', 'svc_parameters', 'user', 'store', 'include', 'metadata', 'fallbacks'];

/**
 * Reads what is asked. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE, PRO_ONLY_MODEL, UNAUTHORIZED, NOT_AVAILABLE,
 * INVALID_REQUEST.
 */
export function planChat(
  request: ChatRequest,
  from: { text: string; caller: Caller },
  catalog: Catalog,
): ChatPlan {
  const text = checkedText(from.text, request);
  const { model, suffix, deprecation } = findTextModel(request.model, catalog);
  if (model.paidOnly && !from.caller.paid) throw new Problem('PRO_ONLY_MODEL', { param: 'model' });
  refuseAnonymous(from.caller, model);
  const wanted = effectiveParameters(request.svc_parameters, suffix);
  const parameters = {
    ...wanted,
    enable_e2ee: wanted.enable_e2ee && model.capabilities.supportsE2EE === true,
  };
  refuseUnavailable(parameters);
  checkCapabilities(request, model);
  const asked = outputLimit(request);
  const choices = request.n ?? 1;
  const stream = request.stream ?? false;
  const thinking = planThinking({ request, parameters, model });
  return {
    accountId: from.caller.accountId,
    model,
    deprecation,
    limits: limitsOf(from.caller, model, catalog),
    parameters,
    thinking,
    stream,
    choices,
    promptTokens: estimatePromptTokens(request),
    outputTokensAtMost: Math.min(asked ?? model.maxCompletionTokens, model.maxCompletionTokens) * choices,
    request,
    text,
    cacheKey: request.prompt_cache_key ?? undefined,
  };
}

/** How a backend is asked. */
export interface BackendRequest {
  readonly stream: boolean;
  /** JSON in place of the client's, where something was made of them. */
  readonly messages: string | undefined;
  /** Of the prompt with them, estimated. */
  readonly promptTokens: number;
}

/** A plan as the router wants it. */
export function inferenceCall(plan: ChatPlan, requestId: string, asked: BackendRequest): InferenceCall {
  const call = { requestId, model: plan.model.id, body: backendBody(plan, asked) };
  return plan.cacheKey === undefined ? call : { ...call, cacheKey: plan.cacheKey };
}

/** The client's limit of output tokens per choice; zero or less is as good as none. */
function outputLimit(request: ChatRequest): number | undefined {
  const limit = request.max_completion_tokens ?? request.max_tokens;
  return limit !== null && limit !== undefined && limit > 0 ? limit : undefined;
}

/** The request as the backend gets it: every member that is not ours, in the bytes it came in. */
function backendBody(plan: ChatPlan, { stream, messages, promptTokens }: BackendRequest): string {
  const members = jsonMembers(plan.text);
  if (messages) members.set('messages', messages);
  for (const name of OWN_MEMBERS) members.delete(name);
  tellLimit(members, plan, promptTokens);
  tellTools(members, plan.request);
  tellBackend(members, plan.thinking, plan.model);
  members.delete('stream_options');
  members.set('stream', String(stream));
  if (stream) members.set('stream_options', '{"include_usage":true}');
  return jsonObject(members);
}

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
