import { z } from 'zod';
import { Count, Flag, type ListPage, type ListedModel, Names, Text, shaped } from './listed-model.js';

/** How the models of a kind of provider are listed. */
export interface ProviderForm {
  /** The base of its API, where there is only one. */
  readonly url?: string;
  /** The environment variable that usually holds its key. */
  readonly keyEnv: string;
  /** The list below the base of the API; with a version of its own where it is elsewhere. */
  readonly path: string;
  /** The base of the list, where it is not that of the API. */
  readonly listBase?: (url: string) => string;
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>;
  readonly page: (body: unknown) => ListPage;
}

const bearer = (apiKey: string): Record<string, string> => ({ authorization: `Bearer ${apiKey}` });

const Supported = z.object({ supported: z.boolean() }).nullish().catch(undefined);

/** `GET /v1/models` of Anthropic. Source: the types of its SDK for TypeScript. */
const AnthropicModel = z.object({
  id: z.string(),
  display_name: Text,
  lifecycle: Text,
  max_input_tokens: Count,
  max_tokens: Count,
  capabilities: z
    .object({
      effort: Supported,
      image_input: Supported,
      structured_outputs: Supported,
      thinking: z
        .object({
          supported: z.boolean(),
          types: z.object({ adaptive: Supported }).optional().catch(undefined),
        })
        .nullish()
        .catch(undefined),
    })
    .nullish()
    .catch(undefined),
});
const AnthropicList = z.object({ data: z.array(z.unknown()), has_more: Flag, last_id: Text.nullable() });

function anthropicModel(model: z.infer<typeof AnthropicModel>): ListedModel {
  const { image_input: images, structured_outputs: schemas, thinking, effort } = model.capabilities ?? {};
  return {
    id: model.id,
    name: model.display_name,
    contextTokens: model.max_input_tokens,
    maxCompletionTokens: model.max_tokens,
    capabilities: {
      supportsFunctionCalling: true,
      supportsVision: images?.supported,
      supportsMultipleImages: images?.supported,
      supportsResponseSchema: schemas?.supported,
      supportsReasoning: thinking?.supported,
      supportsReasoningEffort: effort?.supported,
    },
    thinksByBudget: thinking?.supported === true && thinking.types?.adaptive?.supported === false,
    reason: model.lifecycle === 'retired' ? 'the provider has retired it' : undefined,
  };
}

function anthropicPage(body: unknown): ListPage {
  const { data, has_more: hasMore, last_id: last } = AnthropicList.parse(body);
  return {
    models: shaped(AnthropicModel, data).map(anthropicModel),
    next:
      hasMore === true && typeof last === 'string'
        ? `/models?limit=1000&after_id=${encodeURIComponent(last)}`
        : undefined,
  };
}

/** `GET /v1beta/models` of Google. Source: the reference of the Gemini API. */
const GeminiModel = z.object({
  name: z.string().startsWith('models/'),
  displayName: Text,
  inputTokenLimit: Count,
  outputTokenLimit: Count,
  supportedGenerationMethods: Names,
  thinking: Flag,
});
const GeminiList = z.object({ models: z.array(z.unknown()), nextPageToken: Text });

function geminiPage(body: unknown): ListPage {
  const { models, nextPageToken } = GeminiList.parse(body);
  return {
    models: shaped(GeminiModel, models).map((model): ListedModel => {
      const id = model.name.slice('models/'.length);
      const makesText = model.supportedGenerationMethods?.includes('generateContent') ?? true;
      return {
        id,
        name: model.displayName,
        contextTokens: model.inputTokenLimit,
        maxCompletionTokens: model.outputTokenLimit,
        capabilities: { supportsReasoning: model.thinking, supportsReasoningEffort: model.thinking },
        thinksByBudget: model.thinking === true && /^gemini-[12]\b/.test(id),
        reason: makesText ? undefined : 'it does not make text',
      };
    }),
    next:
      nextPageToken === undefined
        ? undefined
        : `/models?pageSize=1000&pageToken=${encodeURIComponent(nextPageToken)}`,
  };
}

/** `GET /foundation-models` of Amazon Bedrock. Source: the reference of its API. */
const BedrockModel = z.object({
  modelId: z.string(),
  modelName: Text,
  inputModalities: Names,
  outputModalities: Names,
  inferenceTypesSupported: Names,
  modelLifecycle: z.object({ status: Text }).optional().catch(undefined),
});
const BedrockList = z.object({ modelSummaries: z.array(z.unknown()) });

function bedrockReason(model: z.infer<typeof BedrockModel>): string | undefined {
  if (model.outputModalities?.includes('TEXT') === false) return 'it does not make text';
  if (model.modelLifecycle?.status === 'LEGACY') return 'the provider is about to retire it';
  if (model.inferenceTypesSupported?.includes('ON_DEMAND') === false)
    return 'it needs an inference profile, whose id is then the model of the backend';
  return undefined;
}

function bedrockPage(body: unknown): ListPage {
  return {
    models: shaped(BedrockModel, BedrockList.parse(body).modelSummaries).map((model) => ({
      id: model.modelId,
      name: model.modelName,
      capabilities: { supportsVision: model.inputModalities?.includes('IMAGE') },
      reason: bedrockReason(model),
    })),
  };
}

/**
 * `GET /models` of OpenAI and of those that have its API. OpenRouter, Together, Groq, Mistral and vLLM add
 * members of their own. Source: their references.
 */
const OpenAiModel = z.object({
  id: z.string(),
  name: Text,
  display_name: Text,
  type: Text,
  active: Flag,
  context_length: Count,
  context_window: Count,
  max_context_length: Count,
  max_model_len: Count,
  max_completion_tokens: Count,
  top_provider: z.object({ max_completion_tokens: Count }).optional().catch(undefined),
  architecture: z.object({ input_modalities: Names, output_modalities: Names }).optional().catch(undefined),
  supported_parameters: Names,
  capabilities: z
    .object({ completion_chat: Flag, function_calling: Flag, vision: Flag, reasoning: Flag })
    .optional()
    .catch(undefined),
});
const OpenAiList = z.union([
  z.object({ data: z.array(z.unknown()) }).transform(({ data }) => data),
  z.array(z.unknown()),
]);

/**
 * Parts of the names of OpenAI's models that make no text, or only in live sessions; its list says no more.
 */
const NO_TEXT =
  /embed|tts|whisper|dall-e|image|moderation|realtime|transcribe|sora|davinci|babbage|(?:^|-)audio/i;

/** The types that Together reports for models that make text. */
const TEXT_TYPES: ReadonlySet<string> = new Set(['chat', 'language', 'code', 'model', 'text']);

function openAiReason(model: z.infer<typeof OpenAiModel>): string | undefined {
  if (model.active === false) return 'the provider does not offer it now';
  const says = [
    model.capabilities?.completion_chat,
    model.architecture?.output_modalities?.includes('text'),
    model.type === undefined ? undefined : TEXT_TYPES.has(model.type),
  ].filter((each) => each !== undefined);
  const makesText = says.length > 0 ? says.every(Boolean) : !NO_TEXT.test(model.id);
  return makesText ? undefined : 'it does not make text';
}

function openAiModel(model: z.infer<typeof OpenAiModel>): ListedModel {
  const { capabilities: reported, supported_parameters: parameters } = model;
  const seesImages = reported?.vision ?? model.architecture?.input_modalities?.includes('image');
  const reasons = reported?.reasoning ?? parameters?.includes('reasoning');
  return {
    id: model.id,
    name: model.display_name ?? model.name,
    contextTokens:
      model.context_length ?? model.context_window ?? model.max_context_length ?? model.max_model_len,
    maxCompletionTokens: model.top_provider?.max_completion_tokens ?? model.max_completion_tokens,
    capabilities: {
      supportsFunctionCalling: reported?.function_calling ?? parameters?.includes('tools'),
      supportsVision: seesImages,
      supportsMultipleImages: seesImages,
      supportsResponseSchema: parameters?.includes('structured_outputs'),
      supportsLogProbs: parameters?.includes('logprobs'),
      supportsReasoning: reasons,
      supportsReasoningEffort: reasons,
    },
    reason: openAiReason(model),
  };
}

const openAiPage = (body: unknown): ListPage => ({
  models: shaped(OpenAiModel, OpenAiList.parse(body)).map(openAiModel),
});

/** The kinds whose models can be listed with an API key. */
export const PROVIDER_FORMS = {
  openai: {
    url: 'https://api.openai.com/v1',
    keyEnv: 'OPENAI_API_KEY',
    path: '/models',
    headers: bearer,
    page: openAiPage,
  },
  azure: {
    keyEnv: 'AZURE_OPENAI_API_KEY',
    path: '/models',
    headers: (apiKey) => ({ 'api-key': apiKey }),
    page: openAiPage,
  },
  anthropic: {
    url: 'https://api.anthropic.com/v1',
    keyEnv: 'ANTHROPIC_API_KEY',
    path: '/models?limit=1000',
    headers: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
    page: anthropicPage,
  },
  gemini: {
    url: 'https://generativelanguage.googleapis.com/v1beta',
    keyEnv: 'GEMINI_API_KEY',
    path: '/models?pageSize=1000',
    headers: (apiKey) => ({ 'x-goog-api-key': apiKey }),
    page: geminiPage,
  },
  bedrock: {
    keyEnv: 'AWS_BEARER_TOKEN_BEDROCK',
    path: '/foundation-models?byOutputModality=TEXT',
    // The list is at the control plane of the same region.
    listBase: (url) => url.replace('//bedrock-runtime.', '//bedrock.'),
    headers: bearer,
    page: bedrockPage,
  },
} as const satisfies Readonly<Record<string, ProviderForm>>;

export type ListedKind = keyof typeof PROVIDER_FORMS;

export const isListedKind = (kind: string): kind is ListedKind => Object.hasOwn(PROVIDER_FORMS, kind);
