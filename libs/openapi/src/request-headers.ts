import type { RouteDefinition } from '@svc/api/route';
import { ANTHROPIC_VERSIONS } from '@svc/api/messages';
import { ALGORITHM, CLIENT_KEY, MODEL_KEY } from '@svc/api/tee';
import type { JsonObject } from './json-schema.js';

/** A header of requests, and the routes that take it. */
interface RequestHeader {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  readonly isTaken: (route: RouteDefinition) => boolean;
}

const isEncrypted = ({ mayBeEncrypted }: RouteDefinition): boolean => mayBeEncrypted === true;

/** Routes that take the name of a session in their headers take it in their body, too. */
const hasSession = ({ body }: RouteDefinition): boolean =>
  Object.hasOwn((body as { shape?: object } | undefined)?.shape ?? {}, 'session_id');

/** Routes with the forms of Anthropic's API. */
const OF_ANTHROPIC: ReadonlySet<string> = new Set(['createMessage', 'countMessageTokens']);
const OF_MODELS: ReadonlySet<string> = new Set(['listModels', 'getModel']);

const JOBS: ReadonlySet<string> = new Set(['queueVideo', 'queueMusic']);

const text = (example: string): JsonObject => ({ type: 'string', examples: [example] });

const REQUEST_HEADERS: readonly RequestHeader[] = [
  {
    name: 'Accept-Encoding',
    isTaken: ({ headers }) => headers?.includes('encoding') === true,
    description: '`gzip` or `br`: compress the response, unless it is a stream.',
    schema: text('gzip, br'),
  },
  {
    name: 'Range',
    isTaken: ({ hasRanges }) => hasRanges === true,
    description: 'One range of bytes, of which the response then consists.',
    schema: text('bytes=0-1023'),
  },
  {
    name: 'Idempotency-Key',
    isTaken: ({ admitted }) => admitted === 'once',
    description:
      'A name of the request, chosen by the client. For a day the same request with this key gets the same response, and costs nothing; another one is refused.',
    schema: { type: 'string', minLength: 1, maxLength: 255, examples: ['order-8f14e45f'] },
  },
  ...['PAYMENT-SIGNATURE', 'X-402-Payment', 'X-PAYMENT'].map((name, index) => ({
    name,
    isTaken: ({ payment }: RouteDefinition) => payment === true,
    description:
      index === 0
        ? 'An x402 payment as JSON in base64. Without one the response lists the ways to pay.'
        : 'Another name of `PAYMENT-SIGNATURE`.',
    schema: text('eyJ4NDAyVmVyc2lvbiI6MiwicGF5bG9hZCI6e319'),
  })),
  {
    name: CLIENT_KEY,
    isTaken: isEncrypted,
    description:
      "The client's public key, in hex. The response is encrypted for it. Only with the other two headers of encryption.",
    schema: text('04c0ffee'),
  },
  {
    name: MODEL_KEY,
    isTaken: isEncrypted,
    description:
      'The public key of the enclave, from `GET /tee/attestation`, for which the texts are encrypted.',
    schema: text('04c0ffee'),
  },
  {
    name: ALGORITHM,
    isTaken: isEncrypted,
    description: 'The algorithm of the keys: `ecdsa`.',
    schema: text('ecdsa'),
  },
  ...['x-session-id', 'x-session-affinity'].map((name) => ({
    name,
    isTaken: hasSession,
    description: 'Like `session_id` in the body, which takes precedence.',
    schema: text('conversation-7'),
  })),
  {
    name: 'anthropic-version',
    isTaken: ({ operationId }) => OF_ANTHROPIC.has(operationId),
    description: "A version of Anthropic's API.",
    schema: { type: 'string', enum: ANTHROPIC_VERSIONS },
  },
  {
    name: 'anthropic-version',
    isTaken: ({ operationId }) => OF_MODELS.has(operationId),
    description: "If this is sent, the response has the form of Anthropic's API.",
    schema: text('2023-06-01'),
  },
  {
    name: 'anthropic-beta',
    isTaken: ({ operationId }) => OF_ANTHROPIC.has(operationId),
    description: 'Features of Anthropic, separated by commas; passed on to the backends that list them.',
    schema: text('context-management-2025-06-27'),
  },
  {
    name: 'x-stainless-retry-count',
    isTaken: ({ operationId }) => JOBS.has(operationId),
    description:
      "Sent by OpenAI's packages. From 1, an order like one of the last five minutes returns its job instead of a second one.",
    schema: text('0'),
  },
];

/** The header parameters of a route. */
export function headerParameters(route: RouteDefinition): JsonObject[] {
  return REQUEST_HEADERS.filter(({ isTaken }) => isTaken(route)).map(({ isTaken: _, ...header }) => ({
    ...header,
    in: 'header',
    required: false,
  }));
}
