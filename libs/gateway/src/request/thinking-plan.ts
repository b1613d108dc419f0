import type { CatalogModel, ChatRequest, SvcParametersEcho } from '@svc/contracts';
import { isFields } from '../json/backend-json.js';
import { jsonElements, jsonMembers, jsonObject } from '../json/json-members.js';

/** What one request wants of a model's thinking. */
export interface ThinkingPlan {
  /** What the model thinks is kept from the client. */
  readonly strip: boolean;
  /** The answer begins inside a think block. */
  readonly startsInside: boolean;
  /** The model is told not to think. */
  readonly off: boolean;
  readonly effort: string | undefined;
}

type Reasoner = Pick<CatalogModel, 'reasoning'>;

interface Asked {
  readonly request: ChatRequest;
  readonly parameters: SvcParametersEcho;
  readonly model: Reasoner;
}

/** Reads what is asked; of two efforts `reasoning_effort` wins, and `none` is as good as switched off. */
export function planThinking({ request, parameters, model }: Asked): ThinkingPlan {
  const effort = request.reasoning_effort ?? request.reasoning?.effort ?? undefined;
  const enabled = effort === undefined ? (request.reasoning?.enabled ?? true) : effort !== 'none';
  const off = parameters.disable_thinking || !enabled;
  const { startsInside = false, off: wayOff } = model.reasoning ?? {};
  return {
    strip: parameters.strip_thinking_response || parameters.disable_thinking,
    // Where thinking can be switched off, the chat template opens no block.
    startsInside: startsInside && !(off && wayOff !== undefined),
    off,
    effort: enabled ? effort : 'none',
  };
}

/** Puts the plan into the members of a request for a backend, in the way that the catalogue names for the model. */
export function tellBackend(members: Map<string, string>, plan: ThinkingPlan, model: Reasoner): void {
  const { effort: form = 'reasoning_effort', off: wayOff } = model.reasoning ?? {};
  const asked = members.get('reasoning');
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
      if (asked !== undefined) members.set('reasoning', asked);
      if (effort !== undefined) mergeMember(members, 'reasoning', { effort });
      return;
    case 'chat_template_kwargs':
      if (effort !== undefined) mergeMember(members, 'chat_template_kwargs', { reasoning_effort: effort });
      return;
    case 'none':
      return;
  }
}

/** Sets a member; objects keep what else the client put into them. */
function mergeMember(members: Map<string, string>, name: string, value: unknown): void {
  const text = members.get(name);
  const given: unknown = text === undefined ? undefined : JSON.parse(text);
  const merged = isFields(given) && isFields(value) ? { ...given, ...value } : value;
  members.set(name, JSON.stringify(merged));
}

function appendToLastUserMessage(members: Map<string, string>, suffix: string): void {
  const messages = jsonElements(members.get('messages') ?? '[]').map(jsonMembers);
  const last = messages.findLast((message) => JSON.parse(message.get('role') ?? 'null') === 'user');
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
