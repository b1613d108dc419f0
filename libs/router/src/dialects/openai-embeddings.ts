import { BackendError, errorStatus } from '@svc/backend-calls';
import type { EmbeddingTexts, EmbeddingVectors } from '@svc/contracts/inference';
import { RESPONSE_JSON_LIMITS, jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';
import type { EmbeddingsDialect } from '../dialect/dialect.js';

const FLOAT_BYTES = 4;

/**
 * Vectors are numbers or base64: SGLang sends numbers whatever is requested. Those without an index are in
 * the order of the texts.
 */
const Response = z.object({
  data: z.array(
    z.object({
      index: z.int().nonnegative().nullish(),
      embedding: z.union([z.string(), z.array(z.number())]),
    }),
  ),
  usage: z.object({ prompt_tokens: z.int().nonnegative() }).optional().catch(undefined),
});

export const embeddings = {
  /** Base64 is a quarter of the size of numbers, and exact. */
  request(model, { inputs, dimensions, isCustom, others }) {
    const body = {
      ...others,
      model,
      input: inputs,
      encoding_format: 'base64',
      ...(isCustom && { dimensions }),
    };
    return { path: '/embeddings', body: [Buffer.from(JSON.stringify(body))] };
  },

  read: readEmbeddings,
} satisfies EmbeddingsDialect;

type ReadTexts = Pick<EmbeddingTexts, 'inputs' | 'dimensions'>;

function readEmbeddings(body: string, texts: ReadTexts): EmbeddingVectors {
  const read = Response.safeParse(jsonOrUndefined(body, RESPONSE_JSON_LIMITS));
  if (!read.success) throw withoutVectors(body);
  const { data, usage } = read.data;
  return { vectors: vectorsOf(data, texts), ...(usage && { promptTokens: usage.prompt_tokens }) };
}

/** What a response without vectors means. */
export function withoutVectors(body: string): Error {
  const status = errorStatus(body);
  return status === undefined ? new Error('the response has no vectors') : new BackendError(status, body);
}

/** The vectors in the order of their texts, in base64. Throws if one is missing or not as it should be. */
export function vectorsOf(
  data: readonly {
    readonly index?: number | null | undefined;
    readonly embedding: string | readonly number[];
  }[],
  { inputs, dimensions }: ReadTexts,
): string[] {
  if (data.length !== inputs.length)
    throw new Error(`the response has ${data.length} vectors for ${inputs.length} texts`);
  const byIndex = new Map(
    data.map(({ index, embedding }, position) => [index ?? position, base64Of(embedding, dimensions)]),
  );
  return inputs.map((_, index) => {
    const vector = byIndex.get(index);
    if (vector === undefined) throw new Error(`the response has no vector for text ${index}`);
    return vector;
  });
}

/** A vector as base64. Throws unless it has this many finite numbers. */
function base64Of(embedding: string | readonly number[], dimensions: number): string {
  const bytes = typeof embedding === 'string' ? Buffer.from(embedding, 'base64') : bytesOf(embedding);
  if (bytes.length !== dimensions * FLOAT_BYTES)
    throw new Error(`a vector has ${bytes.length / FLOAT_BYTES} numbers in place of ${dimensions}`);
  for (let at = 0; at < bytes.length; at += FLOAT_BYTES)
    if (!Number.isFinite(bytes.readFloatLE(at))) throw new Error('a vector has a number that is not finite');
  return bytes.toString('base64');
}

function bytesOf(numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * FLOAT_BYTES);
  // A number beyond the 32-bit range becomes infinite here.
  for (const [at, number] of numbers.entries()) bytes.writeFloatLE(number, at * FLOAT_BYTES);
  return bytes;
}
