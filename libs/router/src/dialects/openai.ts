import { uuidOf } from '@svc/runtime';
import { BackendError } from './backend-error.js';
import type { Dialect } from './dialect.js';
import { aboutJob, jobPaths, readJobStatus, readSubmitted, submitJob } from './openai-videos.js';
import { embeddingsBody, readEmbeddings } from './openai-embeddings.js';
import { errorStatus } from './openai-errors.js';
import { imageBody, imageEditForm, readImages } from './openai-images.js';
import { CHOICES, firstEvent } from './openai-events.js';
import { speechBody } from './openai-speech.js';
import { readTranscript, transcriptionForm } from './openai-transcriptions.js';

/** The first part of a body up to this size is joined with the prefix. */
const JOINED_BYTES = 262_144;

/** Longer bodies are not errors and are not parsed. */
const ERROR_LIMIT_BYTES = 64 * 1024;

const HEARD = new Set(
  'hotwords seed top_k top_p min_p frequency_penalty presence_penalty repetition_penalty vad_filter'.split(
    ' ',
  ),
);

/** OpenAI's API as implemented by vLLM, SGLang, llama.cpp, Ollama, LM Studio and the simulator. */
export const openai: Dialect = {
  paths: {
    chat: '/chat/completions',
    embeddings: '/embeddings',
    speech: '/audio/speech',
    transcription: '/audio/transcriptions',
    translation: '/audio/translations',
    image: '/images/generations',
    'image-edit': '/images/edits',
    ...jobPaths,
  },
  fields: {
    speech: new Set('seed top_k min_p repetition_penalty task_type exaggeration cfg_weight'.split(' ')),
    transcription: HEARD,
    translation: HEARD,
    image: new Set(['true_cfg_scale']),
    'image-edit': new Set('seed guidance_scale true_cfg_scale strength'.split(' ')),
    'job-submit': new Set(
      'seed guidance_scale guidance_scale_2 true_cfg_scale flow_shift boundary_ratio temperature top_k top_p bpm key_scale time_signature'.split(
        ' ',
      ),
    ),
  },

  headers({ requestId, key }) {
    return {
      'content-type': 'application/json',
      // llama-cpp-python rejects any other id.
      'x-request-id': uuidOf(requestId),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    };
  },

  chatBody(own, [first = new Uint8Array(), ...others]) {
    const head = Buffer.from(`${JSON.stringify(own).slice(0, -1)},`);
    const rest = first.subarray(1);
    return rest.length > JOINED_BYTES ? [head, rest, ...others] : [Buffer.concat([head, rest]), ...others];
  },

  checkCompletion(body) {
    const status = body.length > ERROR_LIMIT_BYTES ? undefined : errorStatus(body);
    if (status !== undefined) throw new BackendError(status, body);
    if (!CHOICES.test(body)) throw new Error('the response has no choices');
  },

  firstEvent,
  embeddingsBody,
  readEmbeddings,
  speechBody,
  transcriptionForm,
  readTranscript,
  imageBody,
  imageEditForm,
  upscaleBody: noPath,
  cutoutForm: noPath,
  readImages,
  submitJob,
  aboutJob,
  readSubmitted,
  readJobStatus,
};

/** Calls of this kind have no path, so none is made. */
function noPath(): never {
  throw new Error('the dialect has no such call');
}
