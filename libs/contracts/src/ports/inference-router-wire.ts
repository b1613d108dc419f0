import { z } from 'zod';
import { decodeProblem, encodeProblem } from '../problems/problem-wire.js';
import { Problem } from '../problems/problem.js';
import { type Answering, CALL_KINDS, type InferenceCall } from './inference-router.js';
import { Name } from './port-wire.js';

/** Where a process that serves the port `InferenceRouter` is asked, by POST. */
export const INFERENCE_PATH = '/internal/v1/inference';

/**
 * A call is a head of headers and the JSON text for the backend as the body, byte for byte; what of it comes from
 * clients is percent-encoded. The answer is a head and the backend's bytes. A refusal has the problem's status and
 * the problem as JSON; a stream that fails once it has begun tells its problem in a trailer.
 */
const CALL_HEADERS = {
  requestId: 'x-request-id',
  accountId: 'x-svc-account',
  model: 'x-svc-model',
  cacheKey: 'x-svc-cache-key',
  stream: 'x-svc-stream',
  kind: 'x-svc-kind',
} as const;

const ANSWER_HEADERS = { backend: 'x-svc-backend', retries: 'x-svc-retries' } as const;

/** The trailer of a stream that failed. */
export const PROBLEM_TRAILER = 'x-svc-problem';

type Headers = Readonly<Record<string, unknown>>;

const Encoded = z
  .string()
  .max(8_192)
  .transform((text, context) => {
    try {
      return decodeURIComponent(text);
    } catch {
      context.issues.push({ code: 'custom', input: text, message: 'is not percent-encoded' });
      return z.NEVER;
    }
  });

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

const CallHead = z.object({
  [CALL_HEADERS.requestId]: Name.min(1),
  // A gateway of an older version does not send it; all its calls share one share.
  [CALL_HEADERS.accountId]: Encoded.default(''),
  [CALL_HEADERS.model]: Encoded,
  [CALL_HEADERS.cacheKey]: Encoded.optional(),
  [CALL_HEADERS.stream]: z.enum(['true', 'false']),
  [CALL_HEADERS.kind]: z.enum(CALL_KINDS).optional(),
});

/** How often a call was tried again, as it is written. */
const RETRIES = /^\d{1,4}$/;

interface InferenceCallOnWire {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
}

export function encodeInferenceCall(call: InferenceCall, stream: boolean): InferenceCallOnWire {
  const headers = {
    [CALL_HEADERS.requestId]: call.requestId,
    [CALL_HEADERS.accountId]: encoded(call.accountId),
    [CALL_HEADERS.model]: encoded(call.model),
    [CALL_HEADERS.stream]: stream ? 'true' : 'false',
    ...(call.kind && { [CALL_HEADERS.kind]: call.kind }),
    ...(call.cacheKey !== undefined && { [CALL_HEADERS.cacheKey]: encoded(call.cacheKey) }),
  };
  return { headers, body: call.body };
}

/** Throws INVALID_REQUEST on what is no call. */
export function decodeInferenceCall(
  headers: Headers,
  body: readonly Uint8Array[],
): { readonly call: InferenceCall; readonly stream: boolean } {
  const read = CallHead.safeParse(headers);
  if (!read.success) throw new Problem('INVALID_REQUEST', { cause: read.error });
  const head = read.data;
  const cacheKey = head[CALL_HEADERS.cacheKey];
  const kind = head[CALL_HEADERS.kind];
  return {
    call: {
      requestId: head[CALL_HEADERS.requestId],
      accountId: head[CALL_HEADERS.accountId],
      model: head[CALL_HEADERS.model],
      body,
      ...(kind && { kind }),
      ...(cacheKey !== undefined && { cacheKey }),
    },
    stream: head[CALL_HEADERS.stream] === 'true',
  };
}

export function encodeAnswering({ backend, retries }: Answering): Readonly<Record<string, string>> {
  return { [ANSWER_HEADERS.backend]: backend, [ANSWER_HEADERS.retries]: String(retries) };
}

/** Throws INFERENCE_FAILED on what is no answer's head. By hand, since every answer comes through here. */
export function decodeAnswering(headers: Headers): Answering {
  const { [ANSWER_HEADERS.backend]: backend, [ANSWER_HEADERS.retries]: retries } = headers;
  if (typeof backend === 'string' && typeof retries === 'string' && RETRIES.test(retries))
    return { backend, retries: Number(retries) };
  throw new Problem('INFERENCE_FAILED', { cause: new TypeError('the answer does not say whose it is') });
}

/** A failure as a trailer. */
export function encodeProblemTrailer(error: unknown): Readonly<Record<string, string>> {
  return { [PROBLEM_TRAILER]: encodeURIComponent(JSON.stringify(encodeProblem(error))) };
}

/** The failure that a stream's trailers tell; `undefined` where they tell none. */
export function decodeProblemTrailer(trailers: Headers): Problem | undefined {
  const text = trailers[PROBLEM_TRAILER];
  if (typeof text !== 'string') return undefined;
  try {
    return decodeProblem(JSON.parse(decodeURIComponent(text)));
  } catch (error) {
    return new Problem('INFERENCE_FAILED', { cause: error });
  }
}
