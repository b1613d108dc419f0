import type { RouteDefinition } from '../route/route-definition.js';
import {
  MediaComplete,
  MediaCompleteReply,
  MediaProgress,
  MediaQuoteReply,
  MediaRetrieve,
  MusicOrder,
  MusicOrderReply,
  MusicQuote,
  VideoOrder,
  VideoOrderReply,
  VideoQuote,
} from './media-jobs.js';

const OF_BODIES = ['INVALID_JSON', 'INVALID_REQUEST', 'PAYLOAD_TOO_LARGE', 'INVALID_CONTENT_TYPE'] as const;
const OF_MODELS = ['MODEL_NOT_FOUND', 'MODEL_RETIRED', 'MODEL_OFFLINE'] as const;

const quote = {
  method: 'POST',
  access: 'public',
  status: 200,
  headers: ['balances'],
  reply: MediaQuoteReply,
  refusals: [...OF_BODIES, ...OF_MODELS],
} as const;

const queue = {
  method: 'POST',
  access: 'key-or-wallet',
  status: 200,
  admitted: 'once',
  ordersJob: true,
  bodyLimitBytes: 35_000_000,
  headers: ['model', 'balances'],
  refusals: [
    ...OF_BODIES,
    ...OF_MODELS,
    'NOT_AVAILABLE',
    'PRO_ONLY_MODEL',
    'MODEL_NOT_ALLOWED',
    'INSUFFICIENT_BALANCE',
    'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
    'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
    'END_USER_SPEND_LIMIT_EXCEEDED',
    'UNAUTHORIZED',
    'RATE_LIMIT_EXCEEDED',
    'TOO_MANY_JOBS',
    'MEDIA_STORAGE_FULL',
  ],
} as const;

const QUEUE_TERMS = `The price is charged at once; it is the quote for the same options. A job that fails costs nothing: all of it is
returned. The result is kept for a day after the request.`;

const retrieve = {
  method: 'POST',
  access: 'key-or-wallet',
  status: 200,
  admitted: 'always',
  body: MediaRetrieve,
  reply: MediaProgress,
  headers: ['model', 'balances', 'media'],
  refusals: [
    ...OF_BODIES,
    'NOT_AVAILABLE',
    'REQUEST_ID_NOT_FOUND',
    'MEDIA_NOT_FOUND',
    'CONTENT_POLICY_VIOLATION',
    'INFERENCE_FAILED',
    'RATE_LIMIT_EXCEEDED',
  ],
} as const;

const RETRIEVE_TERMS = `Responds with JSON while the job is processed, and with the media once it is completed. A failed job has the same error
each time, in which \`credits_refunded\` says whether its cost has been returned: 422 if the provider of the model does not
allow the content, else 500.`;

const complete = {
  method: 'POST',
  access: 'key-or-wallet',
  status: 200,
  body: MediaComplete,
  reply: MediaCompleteReply,
  headers: ['balances'],
  description: 'May be repeated. A job that is still processed cannot be completed.',
  refusals: [...OF_BODIES, 'NOT_AVAILABLE', 'REQUEST_ID_NOT_FOUND'],
} as const;

export const mediaJobRoutes = {
  quoteVideo: {
    ...quote,
    path: '/api/v1/video/quote',
    operationId: 'quoteVideo',
    tag: 'Video',
    summary: 'Gives the price of a video',
    description: 'Ignores fields that do not change the price.',
    body: VideoQuote,
  },
  queueVideo: {
    ...queue,
    path: '/api/v1/video/queue',
    operationId: 'queueVideo',
    tag: 'Video',
    summary: 'Starts a job that makes a video',
    description: QUEUE_TERMS,
    body: VideoOrder,
    reply: VideoOrderReply,
  },
  retrieveVideo: {
    ...retrieve,
    path: '/api/v1/video/retrieve',
    operationId: 'retrieveVideo',
    tag: 'Video',
    summary: 'Returns a video, or the progress of its job',
    description: RETRIEVE_TERMS,
    fileTypes: ['video/mp4', 'video/webm'],
  },
  completeVideo: {
    ...complete,
    path: '/api/v1/video/complete',
    operationId: 'completeVideo',
    tag: 'Video',
    summary: 'Deletes a video',
  },
  quoteMusic: {
    ...quote,
    path: '/api/v1/audio/quote',
    operationId: 'quoteMusic',
    tag: 'Music',
    summary: 'Gives the price of a track',
    description: 'Ignores fields that do not change the price.',
    body: MusicQuote,
  },
  queueMusic: {
    ...queue,
    path: '/api/v1/audio/queue',
    operationId: 'queueMusic',
    tag: 'Music',
    summary: 'Starts a job that makes a track of music',
    description: QUEUE_TERMS,
    body: MusicOrder,
    reply: MusicOrderReply,
  },
  retrieveMusic: {
    ...retrieve,
    path: '/api/v1/audio/retrieve',
    operationId: 'retrieveMusic',
    tag: 'Music',
    summary: 'Returns a track, or the progress of its job',
    description: RETRIEVE_TERMS,
    fileTypes: ['audio/mpeg', 'audio/wav', 'audio/flac'],
  },
  completeMusic: {
    ...complete,
    path: '/api/v1/audio/complete',
    operationId: 'completeMusic',
    tag: 'Music',
    summary: 'Deletes a track',
  },
} as const satisfies Record<string, RouteDefinition>;
