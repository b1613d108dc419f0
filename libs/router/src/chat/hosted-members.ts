import { type Fields, fieldsOf } from '@svc/contracts/inference';

/** In what the API of a provider differs from the form of chat completions that local servers take. */
export interface Differences {
  /** The member for the most output. Some ignore the other one without a word. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  /** The members that it takes; default: all. Others are left out. */
  readonly members?: ReadonlySet<string>;
  /** Members that it refuses. */
  readonly refused?: readonly string[];
  /** The members of a message that it takes; default: all. */
  readonly messageMembers?: ReadonlySet<string>;
  /** Members by another name. */
  readonly renamed?: Readonly<Record<string, string>>;
}

const names = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((name) => name !== ''));

/** Source: the reference of OpenAI's API. */
const OPENAI = names(`
  messages audio frequency_penalty logit_bias logprobs max_completion_tokens metadata modalities n
  parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort
  response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice
  tools top_logprobs top_p user verbosity web_search_options
`);
const OPENAI_MESSAGE = names('role content name refusal tool_calls tool_call_id');

/** Source: the reference of Mistral's API, which refuses any other member. */
const MISTRAL = names(`
  messages frequency_penalty max_tokens metadata n parallel_tool_calls prediction presence_penalty prompt_mode
  random_seed reasoning_effort response_format safe_prompt stop stream temperature tool_choice tools top_p
`);
const MISTRAL_MESSAGE = names('role content name prefix tool_calls tool_call_id');

/** Azure OpenAI, whatever its host. */
export const AZURE: Differences = {
  limit: 'max_completion_tokens',
  members: OPENAI,
  messageMembers: OPENAI_MESSAGE,
};

/** By the end of the host of their URL. */
const PROVIDERS: Readonly<Record<string, Differences>> = {
  'api.openai.com': { limit: 'max_completion_tokens', members: OPENAI, messageMembers: OPENAI_MESSAGE },
  'openai.azure.com': AZURE,
  'api.mistral.ai': {
    limit: 'max_tokens',
    members: MISTRAL,
    messageMembers: MISTRAL_MESSAGE,
    renamed: { seed: 'random_seed' },
  },
  'api.groq.com': {
    limit: 'max_completion_tokens',
    refused: ['logprobs', 'logit_bias', 'top_logprobs'],
    messageMembers: names('role content tool_calls tool_call_id reasoning'),
  },
  'api.deepseek.com': { limit: 'max_tokens' },
  'api.together.xyz': { limit: 'max_tokens' },
  'openrouter.ai': { limit: 'max_tokens' },
  'api.x.ai': { limit: 'max_completion_tokens' },
};

/** The differences of the provider with this URL; undefined for any other server. */
export function differencesAt(url: string | undefined): Differences | undefined {
  if (url?.startsWith('https://') !== true) return undefined;
  const { hostname } = new URL(url);
  const host = Object.keys(PROVIDERS).find((end) => hostname === end || hostname.endsWith(`.${end}`));
  return host === undefined ? undefined : PROVIDERS[host];
}

const kept = (fields: Fields, members: ReadonlySet<string> | undefined): Fields =>
  members ? Object.fromEntries(Object.entries(fields).filter(([name]) => members.has(name))) : fields;

/** A request in the form that the provider takes, from one in that of local servers. */
export function hostedRequest(
  { max_tokens: older, max_completion_tokens: newer, ...request }: Fields,
  { limit, members, refused = [], messageMembers, renamed = {} }: Differences,
): Fields {
  const most = newer ?? older;
  const named: Fields = most === undefined ? {} : { [limit]: most };
  for (const [name, value] of Object.entries(request))
    if (!refused.includes(name)) named[renamed[name] ?? name] = value;
  const messages = fieldsOf(request['messages']).map((message) => kept(message, messageMembers));
  return { ...kept(named, members), messages };
}
