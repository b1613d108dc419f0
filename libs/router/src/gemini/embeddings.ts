import type { EmbeddingTexts } from '@svc/contracts/inference';
import { RESPONSE_JSON_LIMITS, jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';

/** Vectors in the order of their texts, and the tokens of all texts if they were counted. */
export interface EmbeddedTexts {
  readonly vectors: readonly (readonly number[])[];
  readonly promptTokens: number | undefined;
}

/** Source of both forms: the SDK of the provider. The Gemini API counts no tokens. */
const Embedded = z.object({ embeddings: z.array(z.object({ values: z.array(z.number()) })) });
const Predicted = z.object({
  predictions: z.array(
    z.object({
      embeddings: z.object({
        values: z.array(z.number()),
        statistics: z.object({ token_count: z.number().nonnegative() }).optional().catch(undefined),
      }),
    }),
  ),
});

/** The body of `batchEmbedContents`, for a model by its path such as `models/NAME`. */
export const embedBody = (
  model: string,
  { inputs, dimensions, isCustom, others }: EmbeddingTexts,
): object => ({
  requests: inputs.map((text) => ({
    ...others,
    model,
    content: { parts: [{ text }] },
    ...(isCustom && { outputDimensionality: dimensions }),
  })),
});

/** The body of `predict` on Vertex AI. */
export const predictBody = ({ inputs, dimensions, isCustom, others }: EmbeddingTexts): object => ({
  instances: inputs.map((content) => ({ content })),
  parameters: { ...others, ...(isCustom && { outputDimensionality: dimensions }) },
});

/** The vectors in a response to either of them; undefined if it has none. */
export function embeddedIn(body: string): EmbeddedTexts | undefined {
  const response = jsonOrUndefined(body, RESPONSE_JSON_LIMITS);
  const embedded = Embedded.safeParse(response);
  if (embedded.success)
    return { vectors: embedded.data.embeddings.map(({ values }) => values), promptTokens: undefined };
  const predicted = Predicted.safeParse(response);
  if (!predicted.success) return undefined;
  const rows = predicted.data.predictions.map(({ embeddings }) => embeddings);
  const counts = rows.flatMap(({ statistics }) => statistics?.token_count ?? []);
  return {
    vectors: rows.map(({ values }) => values),
    promptTokens:
      counts.length === rows.length ? Math.ceil(counts.reduce((sum, count) => sum + count, 0)) : undefined,
  };
}
