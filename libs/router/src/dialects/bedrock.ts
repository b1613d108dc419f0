import { BackendError } from '@svc/backend-calls';
import { type Fields, isFields } from '@svc/contracts/inference';
import { messagesRequest } from '../anthropic/messages-request.js';
import { invokeBody, invokedVectors, mostTextsOf } from '../bedrock/embeddings.js';
import { ConverseEvents } from '../bedrock/converse-events.js';
import { ConverseReader } from '../bedrock/converse-reader.js';
import { converseRequest } from '../bedrock/converse-request.js';
import { parseBackendJson } from '../chat/backend-json.js';
import { membersOf, requestIn } from '../chat/other-forms.js';
import { jsonOrUndefined } from '@svc/runtime';
import type { Dialect, OwnChatMembers } from '../dialect/dialect.js';
import { vectorsOf, withoutVectors } from './openai-embeddings.js';

/** HTTP statuses by the type of an exception in a stream. Source: the provider's reference of the API. */
const STATUSES: Readonly<Record<string, number>> = {
  throttlingException: 429,
  validationException: 400,
  serviceUnavailableException: 503,
  modelTimeoutException: 408,
  internalServerException: 500,
  modelStreamErrorException: 500,
};

/** Events that only say that a response is being made. */
const SAYS_NOTHING = /^\{"(?:messageStart|contentBlockStart)":/;

const ERROR = '{"error":';

function failureIn(data: string): number | undefined {
  if (!data.startsWith(ERROR)) return undefined;
  const body = jsonOrUndefined(data);
  const error = isFields(body) && isFields(body['error']) ? body['error'] : {};
  return STATUSES[String(error['type'])] ?? 500;
}

function converseOf(
  { model, thinking }: OwnChatMembers,
  body: readonly Uint8Array[],
  isStream: boolean,
): Fields {
  // An inference profile of one's own does not say which model it is for.
  const isClaude = thinking !== undefined || /claude/i.test(model);
  const form = thinking ?? 'adaptive';
  const messages = messagesRequest(requestIn(body), { model, form, isStream });
  return converseRequest(messages, isClaude);
}

/** The members of a request whose tokens are counted. Source: the provider's reference of the API. */
const COUNTED = new Set(['system', 'messages', 'toolConfig', 'additionalModelRequestFields']);

/** Before the id of a model, in that of an inference profile. */
const PROFILE_REGION = /^[a-z-]+\.(?=[a-z]+\.)/;

/** The Converse API of Amazon Bedrock, and `InvokeModel` for embeddings. */
export const bedrock: Dialect = {
  headers: () => ({ 'content-type': 'application/json' }),
  authorization: 'aws',
  isHosted: true,
  chat: {
    reader: () => new ConverseReader(),
    events: () => new ConverseEvents(),
    request: (own, body, isStream) => ({
      path: `/model/${encodeURIComponent(own.model)}/${isStream ? 'converse-stream' : 'converse'}`,
      body: [Buffer.from(JSON.stringify(converseOf(own, body, isStream)))],
    }),
    counting: {
      request(own, body) {
        const converse = membersOf(converseOf(own, body, false), COUNTED);
        // It does not know inference profiles, only the models that they are for.
        const model = own.model.replace(PROFILE_REGION, '');
        return {
          path: `/model/${encodeURIComponent(model)}/count-tokens`,
          body: [Buffer.from(JSON.stringify({ input: { converse } }))],
        };
      },
      tokens: 'inputTokens',
    },
    checkCompletion(body) {
      const { output, message } = parseBackendJson(body);
      if (isFields(output)) return;
      if (typeof message === 'string') throw new BackendError(500, body);
      throw new Error('the response has no output');
    },
    failureIn,
    begins: (event) => !SAYS_NOTHING.test(event),
  },
  embeddings: {
    mostTexts: mostTextsOf,
    request: (model, texts) => ({
      path: `/model/${encodeURIComponent(model)}/invoke`,
      body: [Buffer.from(JSON.stringify(invokeBody(model, texts)))],
    }),
    read(body, texts, headers) {
      const read = invokedVectors(body, headers);
      if (!read) throw withoutVectors(body);
      const { promptTokens } = read;
      const rows = read.vectors.map((embedding) => ({ embedding }));
      return { vectors: vectorsOf(rows, texts), ...(promptTokens !== undefined && { promptTokens }) };
    },
  },
};
