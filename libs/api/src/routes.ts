import { z } from 'zod';
import { augmentRoutes } from './augment/augment-routes.js';
import { audioRoutes } from './audio/audio-routes.js';
import { batchRoutes } from './batches/batch-routes.js';
import { mediaJobRoutes } from './media-jobs/media-job-routes.js';
import { embeddingRoutes } from './embeddings/embedding-routes.js';
import { moderationRoutes } from './moderations/moderation-routes.js';
import { rerankRoutes } from './rerank/rerank-routes.js';
import { imageRoutes } from './images/image-routes.js';
import { billingRoutes } from './billing/billing-routes.js';
import {
  CharacterList,
  CharacterParams,
  CharacterQuery,
  CharacterReply,
  CharacterReviewQuery,
  CharacterReviews,
} from './characters/characters.js';
import { ChatCompletionChunk } from './chat/chat-chunk.js';
import { ChatRequest } from './chat/chat-request.js';
import { ChatCompletion } from './chat/chat-response.js';
import { isPlainChat } from './chat/plain-chat.js';
import { COMPLETION_REFUSALS } from './chat/completion-refusals.js';
import { completionRoutes } from './completions/completion-routes.js';
import { consoleRoutes } from './console/console-routes.js';
import { cryptoRpcRoutes } from './crypto-rpc/crypto-rpc-routes.js';
import { internalRoutes } from './internal-routes.js';
import { endUserRoutes } from './end-users/end-user-routes.js';
import { keyRoutes } from './keys/key-routes.js';
import { limiterRoutes, rateLimitRoutes } from './limits/rate-limit-routes.js';
import { messageBatchRoutes } from './messages/message-batch-routes.js';
import { messageRoutes } from './messages/message-routes.js';
import { AnthropicModel, AnthropicModelList } from './models/anthropic-models.js';
import { ModelList, ModelNames, ModelParams, ModelQuery, ModelView } from './models/models.js';
import { portRoutes } from './internal/port-routes.js';
import { accountRoutes } from './operator/operator-accounts.js';
import { accountingRoutes } from './operator/operator-accounting.js';
import { debitRoutes } from './operator/operator-debits.js';
import { backendRoutes } from './operator/operator-backends.js';
import { operatorTokenRoutes } from './operator/operator-token.js';
import { operatorKeyRoutes } from './operator/operator-keys.js';
import { actionRoutes } from './operator/operator-actions.js';
import { fileRoutes } from './operator/operator-files.js';
import { jobRoutes } from './operator/operator-jobs.js';
import { chargeRoutes } from './operator/operator-charges.js';
import { Health, operatorRoutes } from './operator/operator-routes.js';
import { paymentRoutes } from './operator/operator-payments.js';
import { responseRoutes } from './responses/response-routes.js';
import { stakeRoutes } from './operator/operator-stake.js';
import { teeRoutes } from './tee/tee-routes.js';
import { walletRoutes } from './wallets/wallet-routes.js';
import { operatorWebhookRoutes } from './operator/operator-webhooks.js';
import { webhookRoutes } from './webhooks/webhook-routes.js';
import type { RouteDefinition } from './route/route-definition.js';

const publicRoutes = {
  chatCompletions: {
    method: 'POST',
    path: '/api/v1/chat/completions',
    operationId: 'createChatCompletion',
    tag: 'Chat',
    summary: 'Creates a chat completion',
    description: `Accepts the parameters of OpenAI's chat completions, and more. Fields that are not listed here are passed to the model
unchecked. Those that steer its server, such as \`priority\`, \`lora_path\`, \`chat_template\` or \`cache_salt\`, are dropped.

With \`stream: true\` the completion is sent as server-sent events while it is generated. The last event before
\`data: [DONE]\` carries \`usage\` and \`cost\`. An error after the first event is sent as an event with an \`error\`; what was
delivered before it is charged. Long completions should be streamed.

With the headers \`X-SVC-TEE-Client-Pub-Key\`, \`X-SVC-TEE-Model-Pub-Key\` and \`X-SVC-TEE-Signing-Algo: ecdsa\`, the texts of messages
and of the response are encrypted between the client and an enclave, for models with \`supportsE2EE\`. Such a request must be
streamed, and every text in it must be encrypted for the key that \`GET /tee/attestation\` returns.

The parameters of \`svc_parameters\` may also follow the model's name:
\`<model>:<parameter>=<value>[&<parameter>=<value>…]\`. They take precedence over the body.`,
    access: 'key-or-wallet',
    status: 200,
    // The request id is also the `id` of the completion, so it looks like OpenAI's.
    idPrefix: 'chatcmpl-',
    admitted: 'once',
    mayBeEncrypted: true,
    body: ChatRequest,
    passesBody: true,
    isPlainBody: isPlainChat,
    bodyLimitBytes: 35_000_000,
    reply: ChatCompletion,
    event: ChatCompletionChunk,
    headers: ['model', 'balances', 'encoding'],
    refusals: ['E2EE_ATTESTATION_STALE', ...COMPLETION_REFUSALS],
  },
  models: {
    method: 'GET',
    path: '/api/v1/models',
    operationId: 'listModels',
    tag: 'Models',
    summary: 'Lists the available models',
    description: `Needs no key. If a key is sent, models that its \`modelPrivacy\` forbids are left out. With the header
\`anthropic-version\`, the list has the form of Anthropic's API.`,
    access: 'public',
    status: 200,
    query: ModelQuery,
    reply: z.union([ModelList, AnthropicModelList]),
    headers: ['balances'],
    refusals: ['INVALID_REQUEST'],
  },
  modelTraits: {
    method: 'GET',
    path: '/api/v1/models/traits',
    operationId: 'listModelTraits',
    tag: 'Models',
    summary: 'Lists the traits, each with the model that it currently selects',
    description: 'A trait can be used wherever a model id can; it selects the best model for its purpose.',
    access: 'public',
    status: 200,
    query: ModelQuery,
    reply: ModelNames,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST'],
  },
  modelAliases: {
    method: 'GET',
    path: '/api/v1/models/compatibility_mapping',
    operationId: 'listModelCompatibilityMapping',
    tag: 'Models',
    summary: 'Lists the model names of other services, each with the model that it selects here',
    description:
      'A request for one of these names gets the model beside it. A model id of this service always means that model.',
    access: 'public',
    status: 200,
    query: ModelQuery,
    reply: ModelNames,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST'],
  },
  model: {
    method: 'GET',
    path: '/api/v1/models/*',
    operationId: 'getModel',
    tag: 'Models',
    summary: 'Shows a model',
    description:
      'By its id, an alias or a trait: its capabilities, limits and prices. A retired model is a 410 that names its replacement.',
    access: 'public',
    status: 200,
    params: ModelParams,
    reply: z.union([ModelView, AnthropicModel]),
    headers: ['balances'],
    refusals: ['INVALID_REQUEST', 'MODEL_NOT_FOUND', 'MODEL_RETIRED'],
  },
  characters: {
    method: 'GET',
    path: '/api/v1/characters',
    operationId: 'listCharacters',
    tag: 'Characters',
    summary: 'Lists the characters',
    description:
      'Filtered, sorted and in pages. `character_slug` in `svc_parameters` gives a conversation the persona of one.',
    access: 'key',
    status: 200,
    query: CharacterQuery,
    reply: CharacterList,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST'],
  },
  character: {
    method: 'GET',
    path: '/api/v1/characters/:slug',
    operationId: 'getCharacter',
    tag: 'Characters',
    summary: 'Shows a character',
    description: 'By its slug, with the model that it is made for.',
    access: 'key',
    status: 200,
    params: CharacterParams,
    reply: CharacterReply,
    headers: ['balances'],
    refusals: ['INVALID_REQUEST', 'CHARACTER_NOT_FOUND'],
  },
  characterReviews: {
    method: 'GET',
    path: '/api/v1/characters/:slug/reviews',
    operationId: 'listCharacterReviews',
    tag: 'Characters',
    summary: 'Lists the reviews of a character',
    description: 'Reviews are not collected here, so the list is empty.',
    access: 'key',
    status: 200,
    params: CharacterParams,
    query: CharacterReviewQuery,
    reply: CharacterReviews,
    headers: ['balances', 'pagination'],
    refusals: ['INVALID_REQUEST', 'CHARACTER_NOT_FOUND'],
  },
  health: {
    method: 'GET',
    path: '/api/v1/health',
    operationId: 'getHealth',
    tag: 'Description',
    summary: 'Reports that the service is alive, for load tests that ask for it below the base URL',
    description: 'Needs no key, and says nothing of backends: a request may still be refused with 503.',
    access: 'probe',
    status: 200,
    reply: Health,
    refusals: [],
  },
  openApi: {
    method: 'GET',
    path: '/api/v1/openapi.yaml',
    operationId: 'getOpenApi',
    tag: 'Description',
    summary: 'Describes this API in OpenAPI 3.1',
    description:
      'Generated from the schemas that check requests and responses; clients can be generated from it.',
    access: 'public',
    status: 200,
    reply: z.string(),
    replyType: 'application/yaml',
    refusals: [],
  },
  root: {
    method: 'GET',
    path: '/',
    operationId: 'getRoot',
    tag: 'Description',
    summary: 'Shows the name of the API and the address of its description',
    access: 'public',
    status: 200,
    reply: z.object({ api: z.string(), docs: z.string(), openapi: z.string() }),
    refusals: [],
  },
  llms: {
    method: 'GET',
    path: '/llms.txt',
    operationId: 'getLlmsText',
    tag: 'Description',
    summary: 'Lists all operations for programs that help people to use the API',
    access: 'public',
    status: 200,
    reply: z.string(),
    replyType: 'text/plain; charset=utf-8',
    refusals: [],
  },
  docs: {
    method: 'GET',
    path: '/docs',
    operationId: 'getDocs',
    tag: 'Description',
    summary: 'Shows this description as a web page',
    access: 'public',
    status: 200,
    reply: z.string(),
    replyType: 'text/html; charset=utf-8',
    refusals: [],
  },
  docsAsset: {
    method: 'GET',
    path: '/docs/:name',
    operationId: 'getDocsAsset',
    tag: 'Description',
    summary: 'A script or style sheet of that page',
    access: 'public',
    status: 200,
    params: z.object({ name: z.string() }),
    reply: z.string(),
    replyType: '*/*',
    refusals: ['NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDefinition>;

/** The sections of the published description, in order. */
export const TAGS = {
  Chat: 'Chat completions, whole or streamed.',
  Embeddings: 'Texts as vectors.',
  Moderations: 'Whether texts and images are harmful.',
  Rerank: 'Documents in the order of their relevance.',
  Audio: 'Speech from texts.',
  Image: 'Images made from texts.',
  Video: 'Videos, made by jobs that take minutes.',
  Music: 'Music, made by jobs that take minutes.',
  Batches: 'Files of requests, which are run behind all others and at their own prices.',
  Models: 'The available models, their prices and capabilities.',
  Characters: 'Personas that a conversation can have.',
  'API keys': 'The keys of an account, for the holder of an ADMIN key.',
  'End users': 'The users of an account, for the holder of an ADMIN key.',
  Webhooks: 'What an account is notified of, and where.',
  'Rate limits': 'The limits per minute, and the requests that exceeded them.',
  'Crypto RPC': 'Calls of blockchain nodes, priced in credits.',
  Enclaves: 'Attestation of the enclaves that decrypt encrypted completions.',
  Web: 'Web searches, web pages and files, without a conversation.',
  Billing: 'The balances and usage of an account.',
  Wallets: 'Credit for wallets, which need no account.',
  Console: 'The account in a browser.',
  Description: 'This description.',
  Accounts: 'Accounts, their credit and their keys.',
  Ledger: 'The books.',
  Payments: 'The payments of wallets and their states.',
  Health: 'Whether the process is alive and ready.',
  Limits: 'The use of limits by requests, between processes.',
  Inference: 'Calls of backends, between processes.',
  Retrieval: 'The content of files and of the web, between processes.',
  Jobs: 'The jobs that make videos and music.',
} as const;

/** The catalogue of routes. Controllers, validation and the published description are derived from it. */
export const routes = {
  ...publicRoutes,
  ...completionRoutes,
  ...responseRoutes,
  ...messageRoutes,
  ...messageBatchRoutes,
  ...embeddingRoutes,
  ...rerankRoutes,
  ...moderationRoutes,
  ...audioRoutes,
  ...batchRoutes,
  ...imageRoutes,
  ...mediaJobRoutes,
  ...augmentRoutes,
  ...cryptoRpcRoutes,
  ...teeRoutes,
  ...keyRoutes,
  ...endUserRoutes,
  ...webhookRoutes,
  ...rateLimitRoutes,
  ...limiterRoutes,
  ...internalRoutes,
  ...billingRoutes,
  ...walletRoutes,
  ...consoleRoutes,
  ...operatorRoutes,
  ...accountRoutes,
  ...accountingRoutes,
  ...chargeRoutes,
  ...debitRoutes,
  ...actionRoutes,
  ...jobRoutes,
  ...fileRoutes,
  ...backendRoutes,
  ...operatorWebhookRoutes,
  ...operatorTokenRoutes,
  ...operatorKeyRoutes,
  ...stakeRoutes,
  ...paymentRoutes,
  ...portRoutes,
} as const satisfies Record<string, RouteDefinition & { readonly tag: keyof typeof TAGS }>;
