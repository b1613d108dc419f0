import { isFields } from '@svc/contracts/inference';
import type { CatalogModel } from '@svc/contracts/catalog';
import type { ChatRequest, SvcParametersEcho } from '@svc/api/chat';
import { boundedJson } from '@svc/runtime';
import { jsonElements, jsonMembers, jsonObject } from '@svc/paid/json';

/** What a request asks of the model's reasoning. */
export interface ThinkingPlan {
  /** Removes the reasoning from the response to the client. */
  readonly strip: boolean;
  /** The response begins inside a think block. */
  readonly startsInside: boolean;
  /** Asks the model not to think. */
  readonly off: boolean;
  readonly effort: string | undefined;
}

type Reasoner = Pick<CatalogModel, 'reasoning'>;

interface ThinkingRequest {
  readonly request: ChatRequest;
  readonly parameters: SvcParametersEcho;
  readonly model: Reasoner;
}

/**
 * Plans the reasoning. `reasoning_effort` takes precedence over `reasoning.effort`, and the effort `none`
 * switches reasoning off.
 */
export function planThinking({ request, parameters, model }: ThinkingRequest): ThinkingPlan {
  const effort = request.reasoning_effort ?? request.reasoning?.effort ?? undefined;
  const enabled = effort === undefined ? (request.reasoning?.enabled ?? true) : effort !== 'none';
  const off = parameters.disable_thinking || !enabled;
  const { startsInside = false, off: wayOff } = model.reasoning ?? {};
  return {
    strip: parameters.strip_thinking_response || parameters.disable_thinking,
    // If thinking can be switched off, the chat template then opens no block.
    startsInside: startsInside && !(off && wayOff !== undefined),
    off,
    effort: enabled ? effort : 'none',
  };
}

/**
 * Applies the plan to the members of a backend request, in the way that the catalogue defines for the model.
 */
export function setThinking(members: Map<string, string>, plan: ThinkingPlan, model: Reasoner): void {
  const { effort: form = 'reasoning_effort', off: wayOff } = model.reasoning ?? {};
  const reasoning = members.get('reasoning');
  members.delete('reasoning');
  members.delete('reasoning_effort');
  if (plan.off && wayOff) {
    if ('suffix' in wayOff) appendToLastUserMessage(members, wayOff.suffix);
    else for (const [name, value] of Object.entries(wayOff.members)) mergeMember(members, name, value);
    return;
  }
  const { effort } = plan;
  switch (form) {
    case 'reasoning_effort':
      if (effort !== undefined) members.set('reasoning_effort', JSON.stringify(effort));
      return;
    case 'reasoning':
      if (reasoning !== undefined) members.set('reasoning', reasoning);
      if (effort !== undefined) mergeMember(members, 'reasoning', { effort });
      return;
    case 'chat_template_kwargs':
      if (effort !== undefined) mergeMember(members, 'chat_template_kwargs', { reasoning_effort: effort });
      return;
    case 'none':
      return;
  }
}

/** Sets a member. Objects keep the client's other members. */
function mergeMember(members: Map<string, string>, name: string, value: unknown): void {
  const text = members.get(name);
  const given: unknown = text === undefined ? undefined : boundedJson(text);
  const merged = isFields(given) && isFields(value) ? { ...given, ...value } : value;
  members.set(name, JSON.stringify(merged));
}

function appendToLastUserMessage(members: Map<string, string>, suffix: string): void {
  const messages = jsonElements(members.get('messages') ?? '[]').map(jsonMembers);
  const last = messages.findLast((message) => boundedJson(message.get('role') ?? 'null') === 'user');
  const content = last?.get('content');
  if (!last || content === undefined) return;
  last.set(
    'content',
    content.startsWith('"')
      ? `${content.slice(0, -1)} ${JSON.stringify(suffix).slice(1)}`
      : `[${[...jsonElements(content), JSON.stringify({ type: 'text', text: suffix })].join(',')}]`,
  );
  members.set('messages', `[${messages.map(jsonObject).join(',')}]`);
}
