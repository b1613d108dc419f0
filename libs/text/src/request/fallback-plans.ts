import type { Catalog } from '@svc/catalog';
import type { ChatRequest } from '@svc/api/chat';
import type { Caller, FallbackCause } from '@svc/contracts/ports';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import type { EncryptionHeaders } from '@svc/api/tee';
import type { JsonText } from '@svc/runtime';
import { textModelNamed } from '@svc/paid/models';
import type { SearchTerms } from '../web/web-plan.js';
import { type ChatPlan, fitsContext, planChat } from './chat-plan.js';
import { RequestText } from './request-text.js';

/** A request that may fall back to other models. */
interface FallbackRequest {
  readonly chat: ChatRequest;
  readonly json: JsonText;
  readonly caller: Caller;
  readonly encryption: EncryptionHeaders | undefined;
  readonly session?: string | undefined;
  readonly search?: SearchTerms | undefined;
}

/** A request's plans, one for each model in the order in which they are tried. */
export interface FallbackPlans {
  readonly plans: readonly [ChatPlan, ...ChatPlan[]];
  /** The id of the model that the request is for, which may be offline and so without a plan. */
  readonly requested: string;
  /** What else than a failure of its servers makes the request go on to the next model. */
  readonly on: readonly FallbackCause[];
}

/** A model to fall back to, and the member of the request that names it; undefined for a default. */
interface Named {
  readonly name: string;
  readonly path: readonly (string | number)[] | undefined;
}

/** Whether a request, or by default its key or account, names models to fall back to. */
export const namesFallbacks = ({ chat, caller }: Pick<FallbackRequest, 'chat' | 'caller'>): boolean =>
  (chat.models ?? chat.fallbacks ?? caller.fallbacks) !== undefined;

/**
 * Plans a request for its model and for those to fall back to, without those that cannot serve it: with too
 * small a context, without what it uses, offline, or retired. Refuses as `planChat`, and what is wrong with a
 * model that the request names. A default that cannot be used is left out. An encrypted request is for the
 * key of one enclave, so it has no other model.
 */
export function planFallbacks(request: FallbackRequest, catalog: Catalog): FallbackPlans {
  const { chat, json, caller, encryption } = request;
  const from = { ...request, text: RequestText.checked(json, chat) };
  const isEncrypted = encryption !== undefined && chat.svc_parameters?.enable_e2ee !== false;
  const others = isEncrypted ? othersOfEncrypted(chat) : othersOf(request);
  const plans: ChatPlan[] = [];
  let offline: Problem | undefined;
  try {
    plans.push(planChat(chat, from, catalog));
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'MODEL_OFFLINE') throw error;
    offline = error;
  }
  for (const { name, path } of others) {
    const plan = usable(() => planChat({ ...chat, model: name }, from, catalog), path);
    if (plan && fitsContext(plan) && !plans.some(({ model }) => model.id === plan.model.id)) plans.push(plan);
  }
  const [first, ...rest] = plans;
  if (!first) throw offline ?? new Problem('MODEL_OFFLINE');
  const requested = offline ? textModelNamed(chat.model, catalog).model.id : first.model.id;
  return { plans: [first, ...rest], requested, on: chat.fallback_on ?? caller.fallbacks?.on ?? [] };
}

function othersOf({ chat: { models, fallbacks }, caller }: FallbackRequest): readonly Named[] {
  if (models) return models.map((name, index) => ({ name, path: ['models', index] }));
  if (fallbacks)
    return fallbacks.map(({ model: name }, index) => ({ name, path: ['fallbacks', index, 'model'] }));
  return (caller.fallbacks?.models ?? []).map((name) => ({ name, path: undefined }));
}

/** Refuses models that an encrypted request names. */
function othersOfEncrypted({ models, fallbacks }: ChatRequest): readonly Named[] {
  if ((models ?? fallbacks ?? []).length === 0) return [];
  const message = 'does not work with encryption, because the texts are encrypted for the key of one model';
  throw invalidRequest([{ code: 'custom', path: [models ? 'models' : 'fallbacks'], message }]);
}

/** The plan for a model to fall back to; undefined if it cannot serve the request. */
function usable(plan: () => ChatPlan, path: Named['path']): ChatPlan | undefined {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (!path || isUnable(error)) return undefined;
    throw namedBy(path, error);
  }
}

/** Whether a model cannot serve a request, though nothing is wrong with its name. */
function isUnable({ code, issues }: Problem): boolean {
  if (code === 'INVALID_REQUEST') return issues?.some(({ path }) => path[0] === 'model') !== true;
  return code === 'MODEL_OFFLINE' || code === 'MODEL_RETIRED' || code === 'NOT_AVAILABLE';
}

/** What is wrong with the name of a model, at the member that has it. */
function namedBy(path: readonly (string | number)[], { code, message, issues }: Problem): Problem {
  if (code === 'MODEL_NOT_FOUND') return invalidRequest([{ code: 'custom', path, message }]);
  if (code === 'INVALID_REQUEST') return invalidRequest((issues ?? []).map((issue) => ({ ...issue, path })));
  return new Problem(code, { message, param: path.join('.') });
}
