import type { Issue } from '@svc/contracts/problems';
import { ResponseRequest, SEARCH_TOOLS, X_SEARCH_TOOL } from '@svc/api/responses';
import type { JsonText } from '@svc/runtime';
import { type JsonPart, elementsOf, listPart, membersOf, objectPart, partOf } from '@svc/paid/json';
import {
  type Origin,
  type SearchTerms,
  type TranslatedRequest,
  translated,
  unknownMembersOf,
  allEmpty,
} from '@svc/text/request';
import { type CustomTool, asFunction, functionName } from './offered-tools.js';
import { InputMessages } from './input-messages.js';

/** Members that have another name or form in chat completions, or none. */
const OTHERS: ReadonlySet<string> = new Set([
  'input',
  'instructions',
  'stream_options',
  'tools',
  'tool_choice',
  'max_tool_calls',
  'text',
  'reasoning',
  'max_output_tokens',
  'top_logprobs',
  'truncation',
  'store',
  'previous_response_id',
  'conversation',
  'background',
  'prompt',
  'safety_identifier',
  'web_search',
  'svc_parameters',
]);

const SAME = Object.keys(ResponseRequest.shape).filter((name) => !OTHERS.has(name));

/** How these members are called in chat completions; a request for them names the original in errors. */
const RENAMED: Readonly<Record<string, readonly string[]>> = {
  max_completion_tokens: ['max_output_tokens'],
  response_format: ['text', 'format'],
  verbosity: ['text', 'verbosity'],
  reasoning_effort: ['reasoning', 'effort'],
  logprobs: ['top_logprobs'],
};

const unknownMembers = unknownMembersOf(ResponseRequest.shape);

type Tool = NonNullable<ResponseRequest['tools']>[number];
type SearchTool = Extract<Tool, { search_context_size?: unknown }>;
type PostsTool = Extract<Tool, { from_date?: unknown }>;

const isSearch = (type: unknown): boolean => SEARCH_TOOLS.some((name) => name === type);

/** A request for a response as a chat completion. Refuses: INVALID_REQUEST. */
export async function chatRequestFor(request: ResponseRequest, json: JsonText): Promise<TranslatedRequest> {
  const postsAt = request.tools?.findIndex(isPostsTool) ?? -1;
  const { chat, origin } = chatPart(request, json, postsAt);
  const translation = await translated(json, chat, origin);
  return { ...translation, search: searchTermsOf(request, postsAt) };
}

/** Separate, so that the translation's texts are not kept while it is validated. */
function chatPart(
  request: ResponseRequest,
  json: JsonText,
  postsAt: number,
): { readonly chat: JsonPart; readonly origin: Origin } {
  const members = membersOf({ value: request, text: json.text });
  const instructions = request.instructions ? members.get('instructions') : undefined;
  const before = instructions ? [messageOf('system', instructions)] : [];
  const input = members.get('input') ?? partOf('');
  const items = Array.isArray(input.value) ? InputMessages.of(input) : undefined;
  const messages = items?.map(({ message }) => message) ?? [messageOf('user', input)];
  if (before.length + messages.length === 0) throw allEmpty('input');
  const wantsLogprobs =
    (request.top_logprobs ?? 0) > 0 || request.include?.includes('message.output_text.logprobs') === true;
  const format = request.text?.format;
  const chat = objectPart([
    ...unknownMembers(members),
    ...SAME.map((name) => [name, members.get(name)] as const),
    ['messages', listPart([...before, ...messages])],
    ['tools', toolsOf(members)],
    ['tool_choice', choiceOf(request, members)],
    ['max_completion_tokens', members.get('max_output_tokens')],
    ['response_format', format && format.type !== 'text' ? formatOf(members) : undefined],
    ['verbosity', memberOf(members, 'text', 'verbosity')],
    ['reasoning', reasoningOf(members)],
    ['logprobs', wantsLogprobs ? partOf(true) : undefined],
    ['top_logprobs', members.get('top_logprobs')],
    ['svc_parameters', parametersOf(request, members)],
  ]);
  const itemOf = items?.map(({ item }) => item);
  const places = { itemOf: itemOf && [...before.map(() => 0), ...itemOf], postsAt };
  return { chat, origin: originWith(places) };
}

/** Where the parts of a translation come from. */
interface Places {
  /** The input item of each message, if the input is a list. */
  readonly itemOf: readonly number[] | undefined;
  /** The tool that asks for a search of posts; -1 without one. */
  readonly postsAt: number;
}

/** Made here because a closure in the translation would keep its texts in memory. */
function originWith(places: Places): Origin {
  return (path) => originOf(path, places);
}

type Members = ReadonlyMap<string, JsonPart>;

function messageOf(role: string, content: JsonPart): JsonPart {
  return objectPart([
    ['role', partOf(role)],
    ['content', content],
  ]);
}

function memberOf(members: Members, name: string, inner: string): JsonPart | undefined {
  const part = members.get(name);
  return part && membersOf(part).get(inner);
}

/** The tools that the model is offered: functions with their bytes, and custom tools as functions. */
function toolsOf(members: Members): JsonPart | undefined {
  const tools = elementsOf(members.get('tools') ?? partOf([])).flatMap((part) => {
    const { type, name } = part.value as { type: string; name?: string };
    if (isSearch(type) || type === X_SEARCH_TOOL) return [];
    if (type !== 'namespace') return [toolOf(part)];
    return elementsOf(membersOf(part).get('tools') ?? partOf([])).map((inner) => toolOf(inner, name));
  });
  return tools.length > 0 ? listPart(tools) : undefined;
}

function toolOf(part: JsonPart, namespace?: string): JsonPart {
  const tool = part.value as { type: string; name: string };
  const name = functionName(tool.name, namespace);
  if (tool.type === 'custom') return asFunction({ ...(tool as CustomTool), name });
  if (namespace === undefined) return part;
  return objectPart(new Map([...membersOf(part), ['name', partOf(name)]]));
}

function choiceOf({ tool_choice: choice }: ResponseRequest, members: Members): JsonPart | undefined {
  if (choice === undefined || choice === null || typeof choice === 'string')
    return members.get('tool_choice');
  const named = (name: string): object => ({ type: 'function', function: { name } });
  if ('name' in choice) return partOf(named(choice.name));
  if (!('mode' in choice)) return undefined;
  const tools = choice.tools.map(({ name }) => named(name));
  return partOf({ type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools } });
}

function formatOf(members: Members): JsonPart {
  const format = membersOf(memberOf(members, 'text', 'format') ?? partOf({}));
  const type = format.get('type');
  if (type?.value !== 'json_schema') return objectPart([['type', type]]);
  const schema = objectPart([...format].filter(([name, { value }]) => name !== 'type' && value !== null));
  return objectPart([
    ['type', type],
    ['json_schema', schema],
  ]);
}

/** A summary is not asked of backends; their reasoning is shown as one if the client asks for it. */
function reasoningOf(members: Members): JsonPart | undefined {
  const given = ['effort', 'enabled'].flatMap((name) => {
    const part = memberOf(members, 'reasoning', name);
    return part && part.value !== null ? [[name, part] as const] : [];
  });
  return given.length > 0 ? objectPart(given) : undefined;
}

/** `svc_parameters` decide how to search; without them `web_search` does, then the tool for searches. */
function parametersOf(request: ResponseRequest, members: Members): JsonPart | undefined {
  const parameters = members.get('svc_parameters');
  const own = request.svc_parameters;
  const given = parameters ? membersOf(parameters) : [];
  const wanted: [string, JsonPart][] = [];
  const search = searchOf(request);
  if (search !== undefined && isLeftOut(own?.enable_web_search)) {
    wanted.push(['enable_web_search', partOf(search)]);
    // Clients of this tool show the citations of a text, and not the results.
    if (search !== 'off' && isLeftOut(own?.enable_web_citations))
      wanted.push(['enable_web_citations', partOf(true)]);
  }
  if (request.tool_choice !== 'none' && isLeftOut(own?.enable_x_search) && request.tools?.some(isPostsTool))
    wanted.push(['enable_x_search', partOf(true)]);
  return wanted.length > 0 ? objectPart([...given, ...wanted]) : parameters;
}

const isLeftOut = (value: unknown): boolean => value === undefined || value === null;

const isPostsTool = (tool: Tool): tool is PostsTool => tool.type === X_SEARCH_TOOL;

/** The restrictions of a search of posts. */
const RESTRICTIONS = ['allowed_x_handles', 'excluded_x_handles', 'from_date', 'to_date'] as const;

/** How to search, by the options of the tools for it. */
function searchTermsOf({ tools }: ResponseRequest, postsAt: number): SearchTerms | undefined {
  const web = tools?.find((tool): tool is SearchTool => isSearch(tool.type));
  const posts = tools?.find(isPostsTool);
  if (!web && !posts) return undefined;
  const country = web?.user_location?.country?.toUpperCase();
  return {
    size: web?.search_context_size ?? undefined,
    country,
    posts: posts && { members: postsOf(posts, { web, country }), restriction: restrictionOf(posts, postsAt) },
  };
}

function restrictionOf(tool: PostsTool, at: number): Issue['path'] | undefined {
  const name = RESTRICTIONS.find((each) => !isLeftOut(tool[each]));
  return name && ['tools', at, name];
}

/** The restrictions as members of xAI's `search_parameters`. */
function postsOf(
  tool: PostsTool,
  { web, country }: { readonly web: SearchTool | undefined; readonly country: string | undefined },
): object {
  const { allowed_x_handles: included, excluded_x_handles: excluded, from_date: from, to_date: to } = tool;
  const handles = (names: readonly string[]): string[] => names.map((name) => name.replace('@', ''));
  return {
    sources: [
      ...(web ? [{ type: 'web', ...(country !== undefined && { country }) }] : []),
      {
        type: 'x',
        ...(included && { included_x_handles: handles(included) }),
        ...(excluded && { excluded_x_handles: handles(excluded) }),
      },
    ],
    ...(from && { from_date: from }),
    ...(to && { to_date: to }),
  };
}

function searchOf(request: ResponseRequest): 'on' | 'auto' | 'off' | undefined {
  const { tools, tool_choice: choice, web_search: isSearching } = request;
  if (isSearching !== undefined && isSearching !== null) return isSearching ? 'on' : 'off';
  const isOffered = tools?.some(({ type }) => isSearch(type)) === true;
  if (!isOffered || choice === 'none') return undefined;
  return typeof choice === 'object' && choice !== null && isSearch(choice.type) ? 'on' : 'auto';
}

function originOf([first, second, ...rest]: Issue['path'], { itemOf, postsAt }: Places): Issue['path'] {
  if (second === 'enable_x_search' && postsAt !== -1) return ['tools', postsAt, 'type'];
  if (first === 'messages') {
    if (!itemOf || second === undefined) return ['input'];
    return ['input', itemOf[Number(second)] ?? 0, ...rest];
  }
  const renamed = first === undefined ? undefined : RENAMED[first];
  if (renamed) return renamed;
  return [first, second].flatMap((step) => (step === undefined ? [] : [step])).concat(rest);
}
