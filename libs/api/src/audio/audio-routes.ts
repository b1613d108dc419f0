import { z } from 'zod';
import { SPEECH_MEDIA_TYPES } from '@svc/contracts/catalog';
import type { RouteDefinition } from '../route/route-definition.js';
import { SpeechRequest } from './speech.js';
import { VoiceReply, VoiceRequest } from './voices.js';
import {
  TranscriptEvent,
  TranscriptReply,
  TranscriptionRequest,
  TranslationRequest,
} from './transcriptions.js';

const transcriptionTerms = {
  method: 'POST',
  tag: 'Audio',
  access: 'key-or-wallet',
  status: 200,
  admitted: 'once',
  bodyType: 'multipart/form-data',
  passesBody: true,
  // The largest file, plus the rest of the form.
  bodyLimitBytes: 27_262_976,
  reply: TranscriptReply,
  plainText: true,
  event: TranscriptEvent,
  headers: ['model', 'balances'],
  refusals: [
    'INVALID_REQUEST',
    'PRO_ONLY_MODEL',
    'MODEL_NOT_ALLOWED',
    'INSUFFICIENT_BALANCE',
    'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
    'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
    'END_USER_SPEND_LIMIT_EXCEEDED',
    'UNAUTHORIZED',
    'MODEL_NOT_FOUND',
    'MODEL_RETIRED',
    'PAYLOAD_TOO_LARGE',
    'INVALID_CONTENT_TYPE',
    'RATE_LIMIT_EXCEEDED',
    'INFERENCE_FAILED',
    'MODEL_OFFLINE',
    'MODEL_AT_CAPACITY',
    'REQUEST_TIMEOUT',
  ],
} as const;

const Named = z.object({ id: z.string(), name: z.string() });

const listTerms = {
  method: 'GET',
  tag: 'Audio',
  // Open WebUI sends no key with these.
  access: 'public',
  status: 200,
  headers: ['balances'],
  refusals: [],
} as const;

export const audioRoutes = {
  audioModels: {
    ...listTerms,
    path: '/api/v1/audio/models',
    operationId: 'listAudioModels',
    summary: 'Lists the models that speak, in the form that Open WebUI reads',
    description: '`GET /models?type=tts` has their formats, voices and prices.',
    reply: z.object({ models: z.array(Named) }),
  },
  audioVoices: {
    ...listTerms,
    path: '/api/v1/audio/voices',
    operationId: 'listVoices',
    summary: 'Lists the voices of all models that speak, in the form that Open WebUI reads',
    description: 'A voice belongs to a model; `GET /models?type=tts` has the voices of each.',
    reply: z.object({ voices: z.array(Named) }),
  },
  createVoice: {
    method: 'POST',
    path: '/api/v1/audio/voices',
    operationId: 'createVoice',
    tag: 'Audio',
    summary: 'Clones a voice from a sample',
    description: `Stores the sample, with which models of \`voice_cloning\` speak in this voice, for seven days; only the account that
made it can use it. It costs nothing and counts against the requests per minute of the model; speech costs what it costs with any voice.
Clone only voices whose owners agree.`,
    access: 'key-or-wallet',
    status: 200,
    admitted: 'once',
    isFree: true,
    bodyType: 'multipart/form-data',
    // The largest file, plus the rest of the form.
    bodyLimitBytes: 27_262_976,
    body: VoiceRequest,
    reply: VoiceReply,
    headers: ['model', 'balances'],
    refusals: [
      'INVALID_REQUEST',
      'PRO_ONLY_MODEL',
      'MODEL_NOT_ALLOWED',
      'MEDIA_STORAGE_FULL',
      'INSUFFICIENT_BALANCE',
      'UNAUTHORIZED',
      'MODEL_NOT_FOUND',
      'MODEL_RETIRED',
      'PAYLOAD_TOO_LARGE',
      'INVALID_CONTENT_TYPE',
      'RATE_LIMIT_EXCEEDED',
    ],
  },
  speech: {
    method: 'POST',
    path: '/api/v1/audio/speech',
    operationId: 'createSpeech',
    tag: 'Audio',
    summary: 'Speaks a text',
    description: `Accepts the parameters of OpenAI's speech, except \`stream_format: "sse"\`; of further fields, the model gets
those that the operator has enabled. The response is the whole file, or with \`streaming: true\` the bytes as they are made. A request is charged by the characters of \`input\`:
when the file is complete, or when the client disconnects after the first bytes of a streamed one. If the model fails, the
request costs nothing, and a streamed response that has begun is cut off.`,
    access: 'key-or-wallet',
    status: 200,
    admitted: 'once',
    body: SpeechRequest,
    passesBody: true,
    bodyLimitBytes: 35_000_000,
    reply: z.unknown(),
    replyType: Object.values(SPEECH_MEDIA_TYPES),
    headers: ['model', 'balances'],
    refusals: [
      'INVALID_JSON',
      'INVALID_REQUEST',
      'TOO_MANY_TOKENS',
      'PRO_ONLY_MODEL',
      'MODEL_NOT_ALLOWED',
      'INSUFFICIENT_BALANCE',
      'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
      'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
      'END_USER_SPEND_LIMIT_EXCEEDED',
      'UNAUTHORIZED',
      'MODEL_NOT_FOUND',
      'MODEL_RETIRED',
      'PAYLOAD_TOO_LARGE',
      'INVALID_CONTENT_TYPE',
      'RATE_LIMIT_EXCEEDED',
      'INFERENCE_FAILED',
      'MODEL_OFFLINE',
      'MODEL_AT_CAPACITY',
      'REQUEST_TIMEOUT',
    ],
  },
  transcription: {
    ...transcriptionTerms,
    path: '/api/v1/audio/transcriptions',
    operationId: 'createTranscription',
    summary: 'Transcribes an audio file',
    description: `Accepts the parameters of OpenAI's transcriptions; of further texts, the model gets those that the operator has
enabled. A request is charged by the length of the audio when the whole transcript has arrived, and costs nothing if that fails. The events
of \`stream: true\` are sent after that, so its errors are those of other requests.`,
    body: TranscriptionRequest,
  },
  translation: {
    ...transcriptionTerms,
    path: '/api/v1/audio/translations',
    operationId: 'createTranslation',
    summary: 'Translates the speech of an audio file into English',
    description: 'Like a transcription, at the same price.',
    body: TranslationRequest,
  },
} as const satisfies Record<string, RouteDefinition>;
