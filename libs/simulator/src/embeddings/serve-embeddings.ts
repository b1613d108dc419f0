import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { invalidRequest } from '../http/api-error.js';
import { Hash, Random } from '../random.js';
import { parseJson } from '../request/chat-request.js';
import { faultError, isFault } from '../request/faults.js';
import type { Overrides } from '../request/overrides.js';
import { countTokens } from '../tokenizer.js';

/** What a backend may do wrong, other than the faults that respond with an error status. */
const FAULTS = [
  'floats',
  'count',
  'length',
  'nan',
  'shuffled',
  'twice',
  'no-usage',
  'under',
  'over',
] as const;
type Fault = (typeof FAULTS)[number];

const DEFAULT_DIMENSIONS = 1_024;
const DIMENSIONS_AT_MOST = 16_384;
const DELAY_MS_AT_MOST = 600_000;
const DEFAULT_RETRY_S = 1;
/** The error in a wrong token count. */
const LIE = 1_000;

interface EmbeddingsCall {
  readonly inputs: readonly string[];
  readonly dimensions: number;
  readonly isBase64: boolean;
  readonly model: string;
  readonly faults: ReadonlySet<string>;
  readonly delayMs: number;
}

/**
 * Serves OpenAI's embeddings: for each text a unit vector that depends only on the text. Settings follow the
 * model's name, as in `embed;fault=nan;dimensions=8;max-batch=32;delay-ms=50`.
 */
export function addEmbeddingRoutes(app: FastifyInstance, takeDefaults: () => Overrides): void {
  app.post('/v1/embeddings', async ({ body }, reply) => {
    const call = readCall(typeof body === 'string' ? body : '', takeDefaults());
    if (call.delayMs > 0) await sleep(call.delayMs);
    return send(call, reply);
  });
}

function readCall(text: string, defaults: Overrides): EmbeddingsCall {
  const body = parseJson(text);
  const { input, encoding_format: format = 'float', dimensions, model } = body;
  const inputs = typeof input === 'string' ? [input] : input;
  if (!Array.isArray(inputs) || !inputs.every((one) => typeof one === 'string'))
    throw invalidRequest("'input' must be a string or a list of strings.", 'input');
  if (typeof model !== 'string') throw invalidRequest("'model' is required.", 'model');
  const [id = '', ...settings] = model.split(';');
  const named = new Map(settings.map((setting) => setting.split('=', 2) as [string, string | undefined]));
  const most = Number(named.get('max-batch') ?? Number.POSITIVE_INFINITY);
  // The error of Text Embeddings Inference.
  if (inputs.length > most)
    throw invalidRequest(`batch size ${inputs.length} > maximum allowed batch size ${most}`, 'input');
  const faults = new Set([...(named.get('fault')?.split(',') ?? []), ...(defaults.faults ?? [])]);
  const refusal = faultError(new Set([...faults].filter(isFault)), defaults.retryAfterS ?? DEFAULT_RETRY_S);
  if (refusal) throw refusal;
  return {
    inputs,
    dimensions: whole(dimensions ?? named.get('dimensions') ?? DEFAULT_DIMENSIONS, DIMENSIONS_AT_MOST),
    isBase64: format === 'base64' && !faults.has('floats'),
    model: id,
    faults,
    delayMs: whole(named.get('delay-ms') ?? defaults.delayMs ?? 0, DELAY_MS_AT_MOST),
  };
}

function whole(value: unknown, most: number): number {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 0 && number <= most) return number;
  throw invalidRequest(`Expected a whole number up to ${most}.`, 'dimensions');
}

function send({ inputs, dimensions, isBase64, model, faults }: EmbeddingsCall, reply: FastifyReply) {
  const has = (fault: Fault): boolean => faults.has(fault);
  const data = inputs.map((text, index) => {
    const vector = unitVector(text, has('length') ? dimensions + 1 : dimensions);
    if (has('nan')) vector[0] = Number.NaN;
    const embedding = isBase64 ? Buffer.from(vector.buffer).toString('base64') : [...vector];
    return { object: 'embedding', index: has('twice') ? 0 : index, embedding };
  });
  if (has('count')) data.pop();
  if (has('shuffled')) data.reverse();
  const tokens = inputs.reduce((sum, text) => sum + countTokens(text), 0);
  const lie = has('under') ? 1 / LIE : has('over') ? LIE : 1;
  const counted = Math.ceil(tokens * lie);
  const usage = { prompt_tokens: counted, total_tokens: counted };
  return reply
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ object: 'list', model, data, ...(!has('no-usage') && { usage }) }));
}

/** A vector of length 1 in a direction derived from the text's hash. */
function unitVector(text: string, dimensions: number): Float32Array {
  const random = new Random(new Hash().add(text).value());
  const vector = Float32Array.from({ length: dimensions }, () => random.next() * 2 - 1);
  const length = Math.hypot(...vector) || 1;
  return vector.map((number) => number / length);
}
