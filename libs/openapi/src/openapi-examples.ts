import { PAYMENT_EXAMPLES } from './payment-examples.js';
import { BILLING_EXAMPLES } from './billing-examples.js';
import { KEY_EXAMPLES } from './key-examples.js';
import { WALLET_EXAMPLES } from './wallet-examples.js';

/** Examples by name, as in OpenAPI. */
export type NamedExamples = Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;

interface RouteExamples {
  readonly request?: NamedExamples;
  readonly reply?: NamedExamples;
  readonly stream?: string;
  readonly csv?: string;
}

const USAGE = {
  prompt_tokens: 12,
  completion_tokens: 9,
  total_tokens: 21,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: null,
};
const COST = { usd: 0.0000072, diem: 0 };
const PARAMETERS = {
  enable_e2ee: false,
  enable_web_search: 'off',
  enable_web_citations: false,
  enable_web_scraping: false,
  enable_x_search: false,
  include_venice_system_prompt: true,
  include_search_results_in_stream: false,
  return_search_results_as_documents: false,
  strip_thinking_response: false,
  disable_thinking: false,
  web_search_citations: [],
};
const ID = 'chatcmpl-0199f3a1c2d37b8e';
const ANSWER = 'The capital of France is Paris.';

const chatRequests: NamedExamples = {
  simple: {
    summary: 'A question',
    value: {
      model: 'llama-3.2-3b',
      messages: [{ role: 'user', content: 'What is the capital of France?' }],
    },
  },
  stream: {
    summary: 'A stream, with options of this service',
    value: {
      model: 'default',
      stream: true,
      temperature: 0.7,
      max_completion_tokens: 512,
      messages: [
        { role: 'system', content: 'Answer in one sentence.' },
        { role: 'user', content: 'What is the capital of France?' },
      ],
      svc_parameters: { include_venice_system_prompt: false, strip_thinking_response: true },
    },
  },
  image: {
    summary: 'A question about an image',
    value: {
      model: 'default_vision',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is in this image?' },
            { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
          ],
        },
      ],
    },
  },
  tools: {
    summary: 'A function that the model may call',
    value: {
      model: 'function_calling_default',
      messages: [{ role: 'user', content: 'What is the weather in Paris?' }],
      tools: [
        {
          type: 'function',
          function: {
            name: 'weather',
            description: 'The weather of a city',
            parameters: {
              type: 'object',
              properties: { city: { type: 'string' } },
              required: ['city'],
            },
          },
        },
      ],
    },
  },
  schema: {
    summary: 'An answer of a given schema',
    value: {
      model: 'llama-3.2-3b',
      messages: [{ role: 'user', content: 'Name a city and its country.' }],
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'city',
          strict: true,
          schema: {
            type: 'object',
            properties: { city: { type: 'string' }, country: { type: 'string' } },
            required: ['city', 'country'],
            additionalProperties: false,
          },
        },
      },
    },
  },
};

const completion = (choice: object): object => ({
  id: ID,
  object: 'chat.completion',
  created: 1_795_255_200,
  model: 'llama-3.2-3b',
  choices: [{ index: 0, ...choice, stop_reason: null, logprobs: null }],
  prompt_logprobs: null,
  usage: USAGE,
  cost: COST,
  svc_parameters: PARAMETERS,
});

const chatReplies: NamedExamples = {
  text: {
    summary: 'An answer',
    value: completion({
      message: { role: 'assistant', content: ANSWER, reasoning_content: null, tool_calls: [] },
      finish_reason: 'stop',
    }),
  },
  tools: {
    summary: 'A call of a function',
    value: completion({
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
        ],
      },
      finish_reason: 'tool_calls',
    }),
  },
};

const chunk = { id: ID, object: 'chat.completion.chunk', created: 1_795_255_200, model: 'llama-3.2-3b' };
const delta = (part: object, finish: string | null = null): object => ({
  ...chunk,
  choices: [{ index: 0, delta: part, logprobs: null, finish_reason: finish }],
});

const STREAM = [
  delta({ role: 'assistant', content: '' }),
  delta({ content: 'The capital of France' }),
  delta({ content: ' is Paris.' }),
  delta({}, 'stop'),
  { ...chunk, choices: [], usage: USAGE, cost: COST, svc_parameters: PARAMETERS },
]
  .map((event) => `data: ${JSON.stringify(event)}\n\n`)
  .join('');

const price = (usd: number): object => ({ usd, diem: usd });

const model = {
  id: 'llama-3.2-3b',
  object: 'model',
  created: 1_767_225_600,
  owned_by: 'svc',
  type: 'text',
  context_length: 131_072,
  model_spec: {
    name: 'Llama 3.2 3B',
    privacy: 'private',
    betaModel: false,
    offline: false,
    traits: ['default', 'fastest'],
    availableContextTokens: 131_072,
    maxCompletionTokens: 8_192,
    capabilities: {
      optimizedForCode: false,
      quantization: 'fp16',
      supportsFunctionCalling: true,
      supportsAudioInput: false,
      supportsReasoning: false,
      supportsReasoningEffort: false,
      supportsResponseSchema: true,
      supportsMultipleImages: false,
      supportsVision: false,
      supportsVideoInput: false,
      supportsWebSearch: false,
      supportsLogProbs: true,
      supportsTeeAttestation: false,
      supportsE2EE: false,
      supportsXSearch: false,
    },
    constraints: { temperature: { default: 0.7 }, top_p: { default: 0.9 } },
    pricing: { input: price(0.15), output: price(0.6), cache_input: price(0.075) },
  },
};

const character = {
  id: 'plain-words',
  slug: 'plain-words',
  name: 'Plain Words',
  description: 'Explains anything without jargon.',
  author: '06e55',
  adult: false,
  featured: true,
  webEnabled: false,
  modelId: 'llama-3.2-3b',
  photoUrl: null,
  shareUrl: null,
  tags: ['teaching'],
  stats: { averageRating: 0, imports: 0, ratingCount: 0, ratingSum: 0, userRating: null },
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};

const only = (summary: string, value: unknown): NamedExamples => ({ default: { summary, value } });

const ACCOUNT_ID = '7f0c0a52-6c53-4a5e-9a55-0d2f6f0f7c11';
const account = {
  id: ACCOUNT_ID,
  name: 'Example',
  tier: 'standard',
  paid: false,
  wallet: null,
  createdAt: '2026-11-21T10:15:00.000Z',
  state: 'active',
  suspension: null,
  fallbackModels: [],
  fallbackOn: [],
};
const transfer = {
  id: '42',
  kind: 'credit',
  debitAccount: 'deposits',
  creditAccount: ACCOUNT_ID,
  currency: 'USD',
  amount: '10.00',
  reference: 'invoice-17',
  at: '2026-11-21T10:15:00.000Z',
};

const stakeOfAccount = {
  accountId: ACCOUNT_ID,
  tokens: '12.50',
  diemEpochAllocation: '12.50',
  grantedOn: '2026-11-21',
  nextEpochBegins: '2026-11-22T00:00:00.000Z',
};

const SPOKEN = 'The tide comes in twice a day.';
const SPOKEN_USAGE = { type: 'duration', seconds: 2.5 };

/** Examples of each operation, and of the response to a request without credentials. */
export const EXAMPLES: Readonly<Record<string, RouteExamples>> = {
  createChatCompletion: {
    request: chatRequests,
    reply: chatReplies,
    stream: `${STREAM}data: [DONE]\n\n`,
  },
  createTranscription: {
    reply: only('A text', { text: SPOKEN, duration: 2.5, usage: SPOKEN_USAGE }),
    stream: `data: ${JSON.stringify({ type: 'transcript.text.delta', delta: SPOKEN })}\n
data: ${JSON.stringify({ type: 'transcript.text.done', text: SPOKEN, usage: SPOKEN_USAGE })}\n
data: [DONE]\n\n`,
  },
  listModels: { reply: only('One model', { object: 'list', type: 'text', data: [model] }) },
  getModel: { reply: only('A model', model) },
  listModelTraits: {
    reply: only('Two traits', {
      object: 'list',
      type: 'text',
      data: { default: 'llama-3.2-3b', default_vision: 'mistral-31-24b' },
    }),
  },
  listModelCompatibilityMapping: {
    reply: only('One name', { object: 'list', type: 'text', data: { 'gpt-4o-mini': 'llama-3.2-3b' } }),
  },
  listCharacters: { reply: only('One character', { object: 'list', data: [character] }) },
  getCharacter: { reply: only('A character', { object: 'character', data: character }) },
  ...KEY_EXAMPLES,
  ...BILLING_EXAMPLES,
  createAccount: {
    request: only('An account', { name: 'Example' }),
    reply: only('The account', account),
  },
  getAccount: { reply: only('An account', { ...account, balances: { usd: '9.999988', diem: '0' } }) },
  creditAccount: {
    request: only('Ten dollars', { usd: '10.00', reference: 'invoice-17' }),
    reply: only('The transfer', transfer),
  },
  refundCharge: {
    request: only('All that a request cost', {
      requestId: 'chatcmpl-0199f3a1c2d37b8e',
      reference: 'complaint-3',
    }),
    reply: only('The transfer', {
      object: 'list',
      data: [
        {
          ...transfer,
          id: '43',
          kind: 'refund',
          debitAccount: 'revenue',
          creditAccount: `customer:${ACCOUNT_ID}`,
          amount: '0.0000072',
          reference: 'complaint-3',
        },
      ],
    }),
  },
  createAccountKey: {
    request: only('A key for inference', { apiKeyType: 'INFERENCE', description: 'website' }),
    reply: only('The key', {
      id: '1b1f4c3e-3a9f-4e0c-8c7f-6f0e2f1d9a55',
      apiKey: 'SVC_INFERENCE_KEY_…',
      apiKeyType: 'INFERENCE',
      description: 'website',
      last6Chars: 'x7Qa2b',
    }),
  },
  listTransfers: {
    reply: only('One transfer', { object: 'list', data: [transfer], nextBefore: null }),
  },
  listHolds: {
    reply: only('One request under way', {
      object: 'list',
      data: [
        {
          requestId: 'chatcmpl-0199f3a1c2d37b8e',
          keyId: '1b1f4c3e-3a9f-4e0c-8c7f-6f0e2f1d9a55',
          amount: { usd: '0.0000384', diem: '0.00' },
          until: '2026-11-21T10:16:00.000Z',
        },
      ],
    }),
  },
  ...PAYMENT_EXAMPLES,
  getStake: { reply: only('A stake', stakeOfAccount) },
  setStake: { request: only('A stake', { tokens: '12.5' }), reply: only('The stake', stakeOfAccount) },
  auditLedger: {
    reply: only('Books that are right', {
      ok: true,
      scope: 'new',
      since: '2026-11-21T10:15:00.000Z',
      accounts: 2,
      transfers: 17,
      charges: 16,
      imbalanceUsd: '0',
      imbalanceDiem: '0',
      mismatches: [],
    }),
  },
  healthz: { reply: only('Alive', { status: 'ok' }) },
  readyz: { reply: only('Ready', { status: 'ready' }) },
  discovery: WALLET_EXAMPLES,
};
