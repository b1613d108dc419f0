import { BackendError, errorStatus } from '@svc/backend-calls';
import { isFields } from '@svc/contracts/inference';
import { parseBackendJson } from '../chat/backend-json.js';
import { membersOf, requestIn } from '../chat/other-forms.js';
import { ContentReader } from '../gemini/content-reader.js';
import { contentRequest } from '../gemini/content-request.js';
import { embedBody, embeddedIn, predictBody } from '../gemini/embeddings.js';
import { contentImageBody, imagenBody, isImagen, madeImages } from '../gemini/images.js';
import { SpeechEvents, speechBody } from '../gemini/speech.js';
import type {
  ChatDialect,
  Dialect,
  EmbeddingsDialect,
  ImagesDialect,
  SpeechDialect,
} from '../dialect/dialect.js';
import { vectorsOf, withoutVectors } from './openai-embeddings.js';
import { faultOf } from './openai-images.js';

/** Whether a response, or an event of one, has something from the model. */
const SAYS_SOMETHING = /"(?:text|functionCall|inlineData|finishReason|blockReason)"\s*:/;

/** The path of a model: by its name, or below a collection such as `tunedModels/…`. */
const pathOf = (model: string): string => (model.includes('/') ? `/${model}` : `/models/${model}`);

const readVectors: EmbeddingsDialect['read'] = (body, texts) => {
  const read = embeddedIn(body);
  if (!read) throw withoutVectors(body);
  const { promptTokens } = read;
  const rows = read.vectors.map((embedding) => ({ embedding }));
  return { vectors: vectorsOf(rows, texts), ...(promptTokens !== undefined && { promptTokens }) };
};

const chat: ChatDialect = {
  reader: () => new ContentReader(),
  request({ model, thinking = 'adaptive' }, body, isStream) {
    const content = contentRequest(requestIn(body), thinking);
    const call = isStream ? ':streamGenerateContent?alt=sse' : ':generateContent';
    return { path: pathOf(model) + call, body: [Buffer.from(JSON.stringify(content))] };
  },
  counting: {
    request({ model, thinking = 'adaptive' }, body) {
      const path = pathOf(model);
      const generateContentRequest = { model: path.slice(1), ...contentRequest(requestIn(body), thinking) };
      return { path: `${path}:countTokens`, body: [Buffer.from(JSON.stringify({ generateContentRequest }))] };
    },
    tokens: 'totalTokens',
  },
  checkCompletion(body) {
    const status = errorStatus(body);
    if (status !== undefined) throw new BackendError(status, body);
    const { candidates, promptFeedback } = parseBackendJson(body);
    if (!Array.isArray(candidates) && !isFields(promptFeedback))
      throw new Error('the response has no candidates');
  },
  failureIn: (data) => errorStatus(data, true),
  begins: (event) => SAYS_SOMETHING.test(event),
};

/** Images of Imagen and of Gemini. Further members are those that the catalogue adds for a model. */
const images: ImagesDialect = {
  make: {
    fields: new Set(),
    request({ model }, order) {
      const call = isImagen(model) ? 'predict' : 'generateContent';
      const body = isImagen(model) ? imagenBody(order) : contentImageBody(order);
      return { path: `${pathOf(model)}:${call}`, body: [Buffer.from(JSON.stringify(body))] };
    },
  },
  read(bytes) {
    const body = bytes.toString();
    const made = madeImages(body);
    if (made.length === 0) throw faultOf(body, 'the response has no images');
    return made.map((base64) => ({ base64 }));
  },
};

/** It is always streamed, whether the caller reads it so or not. */
const speech: SpeechDialect = {
  fields: new Set(),
  request: ({ model }, text) => ({
    path: `${pathOf(model)}:streamGenerateContent?alt=sse`,
    body: [Buffer.from(JSON.stringify(speechBody(text)))],
  }),
  events: () => new SpeechEvents(),
};

/** Google's Gemini API, with an API key. */
export const gemini: Dialect = {
  headers: ({ key }) => ({
    'content-type': 'application/json',
    ...(key !== undefined && { 'x-goog-api-key': key }),
  }),
  isHosted: true,
  chat,
  embeddings: {
    request(model, texts) {
      const path = pathOf(model);
      const body = embedBody(path.slice(1), texts);
      return { path: `${path}:batchEmbedContents`, body: [Buffer.from(JSON.stringify(body))] };
    },
    read: readVectors,
  },
  images,
  speech,
};

/** The members of a request whose tokens Vertex AI counts. Source: the provider's reference of the API. */
const COUNTED = new Set(['contents', 'systemInstruction', 'tools', 'generationConfig']);

/** The same on Vertex AI, with a token. */
export const vertex: Dialect = {
  ...gemini,
  chat: {
    ...chat,
    counting: {
      request({ model, thinking = 'adaptive' }, body) {
        const counted = membersOf(contentRequest(requestIn(body), thinking), COUNTED);
        return { path: `${pathOf(model)}:countTokens`, body: [Buffer.from(JSON.stringify(counted))] };
      },
      tokens: 'totalTokens',
    },
  },
  headers: () => ({ 'content-type': 'application/json' }),
  authorization: 'google',
  embeddings: {
    request: (model, texts) => ({
      path: `${pathOf(model)}:predict`,
      body: [Buffer.from(JSON.stringify(predictBody(texts)))],
    }),
    read: readVectors,
  },
};
