import { z } from 'zod';
import { BANDS } from '../catalog/price-tiers.js';
import { PublicKey } from '../messages/enclaves.js';
import { decodeProblem, encodeProblem } from '../problems/problem-wire.js';
import { Problem } from '../problems/problem.js';
import type { OriginalChat } from './chat.js';
import { type ServedBy, CALL_KINDS, type CallFile } from './calls.js';
import type { WireCall } from './inference-router.js';
import { Name } from '../ports/port-wire.js';

/** The POST route of processes that serve a router. */
export const INFERENCE_PATH = '/internal/v1/inference';

/**
 * A call is a head of HTTP headers, with the JSON text for the backend as the body, byte for byte, and then
 * its files; values from clients are percent-encoded. A response is a head and the backend's bytes. An error
 * response has the problem's status and the problem as JSON; a stream that fails after it has begun carries
 * its problem in a trailer.
 */
const CALL_HEADERS = {
  requestId: 'x-request-id',
  accountId: 'x-svc-account',
  model: 'x-svc-model',
  cacheKey: 'x-svc-cache-key',
  band: 'x-svc-band',
  weight: 'x-svc-weight',
  stream: 'x-svc-stream',
  kind: 'x-svc-kind',
  backend: 'x-svc-only-backend',
  exceptBackend: 'x-svc-except-backend',
  files: 'x-svc-files',
  modelKey: 'x-svc-model-key',
  clientKey: 'x-svc-client-key',
  betas: 'x-svc-betas',
} as const;

const RESPONSE_HEADERS = {
  backend: 'x-svc-backend',
  retries: 'x-svc-retries',
  dialect: 'x-svc-dialect',
  contentType: 'x-svc-content-type',
  finalizedBlock: 'x-svc-finalized-block',
} as const;

/** The trailer of a failed stream. */
export const PROBLEM_TRAILER = 'x-svc-problem';

type Headers = Readonly<Record<string, unknown>>;

const Encoded = z
  .string()
  .max(8_192)
  .transform((text, context) => {
    try {
      return decodeURIComponent(text);
    } catch {
      context.issues.push({ code: 'custom', input: text, message: 'must be percent-encoded' });
      return z.NEVER;
    }
  });

const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

/** The files of a call, in the order of their bytes. */
const FilesOnWire = z
  .array(z.object({ name: z.string(), type: z.string(), length: z.int().nonnegative() }))
  .min(1)
  .max(64);

const CallHead = z.object({
  [CALL_HEADERS.requestId]: Name.min(1),
  // Older gateways do not send it; all their calls count as one account.
  [CALL_HEADERS.accountId]: Encoded.default(''),
  [CALL_HEADERS.model]: Encoded,
  [CALL_HEADERS.cacheKey]: Encoded.optional(),
  [CALL_HEADERS.band]: z.enum(BANDS).optional(),
  [CALL_HEADERS.weight]: z.coerce.number().min(0.1).max(100).optional(),
  [CALL_HEADERS.stream]: z.enum(['true', 'false']),
  [CALL_HEADERS.kind]: z.enum(CALL_KINDS).optional(),
  [CALL_HEADERS.backend]: Name.min(1).optional(),
  [CALL_HEADERS.exceptBackend]: Name.min(1).optional(),
  [CALL_HEADERS.files]: Encoded.optional(),
  [CALL_HEADERS.modelKey]: PublicKey.optional(),
  [CALL_HEADERS.clientKey]: PublicKey.optional(),
  [CALL_HEADERS.betas]: Encoded.optional(),
});

/** The number of retries, in decimal. */
const RETRIES = /^\d{1,4}$/;

const BLOCK = /^\d{1,15}$/;

interface InferenceCallOnWire {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
}

export function encodeInferenceCall(call: WireCall, stream: boolean): InferenceCallOnWire {
  const headers = {
    [CALL_HEADERS.requestId]: call.requestId,
    [CALL_HEADERS.accountId]: encoded(call.accountId),
    [CALL_HEADERS.model]: encoded(call.model),
    [CALL_HEADERS.stream]: stream ? 'true' : 'false',
    ...(call.kind && { [CALL_HEADERS.kind]: call.kind }),
    ...(call.backend !== undefined && { [CALL_HEADERS.backend]: call.backend }),
    ...(call.exceptBackend !== undefined && { [CALL_HEADERS.exceptBackend]: call.exceptBackend }),
    ...(call.cacheKey !== undefined && { [CALL_HEADERS.cacheKey]: encoded(call.cacheKey) }),
    ...(call.share && {
      [CALL_HEADERS.band]: call.share.band,
      [CALL_HEADERS.weight]: String(call.share.weight),
    }),
    ...(call.encryption && {
      [CALL_HEADERS.modelKey]: call.encryption.modelKey,
      [CALL_HEADERS.clientKey]: call.encryption.clientKey,
    }),
    ...(call.original && { [CALL_HEADERS.betas]: encoded(call.original.betas.join(',')) }),
  };
  const files = call.original ? [originalFile(call.original)] : call.files;
  if (!files) return { headers, body: call.body };
  const heads = files.map(({ name, type, bytes }) => ({ name, type, length: bytes.length }));
  return {
    headers: { ...headers, [CALL_HEADERS.files]: encoded(JSON.stringify(heads)) },
    body: [...call.body, ...files.map(({ bytes }) => bytes)],
  };
}

/** An original request crosses as the only file of its call. */
const originalFile = ({ body }: OriginalChat): CallFile => ({
  name: 'original',
  type: 'application/json',
  bytes: Buffer.concat(body),
});

/** Throws INVALID_REQUEST on an invalid call. */
export function decodeInferenceCall(
  headers: Headers,
  body: readonly Uint8Array[],
): { readonly call: WireCall; readonly stream: boolean } {
  const read = CallHead.safeParse(headers);
  if (!read.success) throw new Problem('INVALID_REQUEST', { cause: read.error });
  const head = read.data;
  const cacheKey = head[CALL_HEADERS.cacheKey];
  const kind = head[CALL_HEADERS.kind];
  const band = head[CALL_HEADERS.band];
  const weight = head[CALL_HEADERS.weight];
  const backend = head[CALL_HEADERS.backend];
  const exceptBackend = head[CALL_HEADERS.exceptBackend];
  const modelKey = head[CALL_HEADERS.modelKey];
  const clientKey = head[CALL_HEADERS.clientKey];
  const betas = head[CALL_HEADERS.betas];
  return {
    call: {
      requestId: head[CALL_HEADERS.requestId],
      accountId: head[CALL_HEADERS.accountId],
      model: head[CALL_HEADERS.model],
      ...withOriginal(withFiles(head[CALL_HEADERS.files], body), betas),
      ...(kind && { kind }),
      ...(backend !== undefined && { backend }),
      ...(exceptBackend !== undefined && { exceptBackend }),
      ...(cacheKey !== undefined && { cacheKey }),
      ...(band !== undefined && weight !== undefined && { share: { band, weight } }),
      ...(modelKey !== undefined && clientKey !== undefined && { encryption: { modelKey, clientKey } }),
    },
    stream: head[CALL_HEADERS.stream] === 'true',
  };
}

/** A call that names betas, or none, has an original request as its file. */
function withOriginal(
  call: Pick<WireCall, 'body' | 'files'>,
  betas: string | undefined,
): Pick<WireCall, 'body' | 'files' | 'original'> {
  const [file] = call.files ?? [];
  if (betas === undefined || !file) return call;
  return {
    body: call.body,
    original: { body: [file.bytes], betas: betas.split(',').filter((beta) => beta !== '') },
  };
}

/** The text of a call and its files, which are the end of its bytes. */
function withFiles(
  header: string | undefined,
  body: readonly Uint8Array[],
): Pick<WireCall, 'body' | 'files'> {
  if (header === undefined) return { body };
  try {
    const bytes = body.length === 1 && body[0] ? body[0] : Buffer.concat(body);
    const heads = FilesOnWire.parse(JSON.parse(header));
    let end = bytes.length - heads.reduce((sum, { length }) => sum + length, 0);
    if (end < 0) throw new RangeError('the files have more bytes than the body');
    const text = bytes.subarray(0, end);
    const files = heads.map(({ name, type, length }): CallFile => {
      const from = end;
      end += length;
      return { name, type, bytes: bytes.subarray(from, end) };
    });
    return { body: [text], files };
  } catch (error) {
    throw new Problem('INVALID_REQUEST', { cause: error });
  }
}

export function encodeServedBy({
  backend,
  retries,
  dialect,
  contentType,
  finalizedBlock,
}: ServedBy): Readonly<Record<string, string>> {
  return {
    [RESPONSE_HEADERS.backend]: backend,
    [RESPONSE_HEADERS.retries]: String(retries),
    ...(dialect !== undefined && { [RESPONSE_HEADERS.dialect]: dialect }),
    ...(contentType !== undefined && { [RESPONSE_HEADERS.contentType]: contentType }),
    ...(finalizedBlock !== undefined && { [RESPONSE_HEADERS.finalizedBlock]: String(finalizedBlock) }),
  };
}

/**
 * Throws INFERENCE_FAILED on an invalid response head. Parsed by hand, since every response passes through
 * here.
 */
export function decodeServedBy(headers: Headers): ServedBy {
  const { [RESPONSE_HEADERS.backend]: backend, [RESPONSE_HEADERS.retries]: retries } = headers;
  const { [RESPONSE_HEADERS.contentType]: contentType, [RESPONSE_HEADERS.finalizedBlock]: block } = headers;
  const { [RESPONSE_HEADERS.dialect]: dialect } = headers;
  if (typeof backend === 'string' && typeof retries === 'string' && RETRIES.test(retries))
    return {
      backend,
      retries: Number(retries),
      ...(typeof dialect === 'string' && { dialect }),
      ...(typeof contentType === 'string' && { contentType }),
      ...(typeof block === 'string' && BLOCK.test(block) && { finalizedBlock: Number(block) }),
    };
  throw new Problem('INFERENCE_FAILED', { cause: new TypeError('the response does not name its backend') });
}

/** A failure as a trailer. */
export function encodeProblemTrailer(error: unknown): Readonly<Record<string, string>> {
  return { [PROBLEM_TRAILER]: encodeURIComponent(JSON.stringify(encodeProblem(error))) };
}

/** The failure in a stream's trailers; `undefined` if they contain no failure. */
export function decodeProblemTrailer(trailers: Headers): Problem | undefined {
  const text = trailers[PROBLEM_TRAILER];
  if (typeof text !== 'string') return undefined;
  try {
    return decodeProblem(JSON.parse(decodeURIComponent(text)));
  } catch (error) {
    return new Problem('INFERENCE_FAILED', { cause: error });
  }
}
