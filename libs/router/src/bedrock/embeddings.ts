import type { EmbeddingTexts, Fields } from '@svc/contracts/inference';
import { RESPONSE_JSON_LIMITS, type ResponseHeaders, jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';
import { membersOf } from '../chat/other-forms.js';

/** How the models of a family take texts in `InvokeModel`. */
interface InvokedFamily {
  /** The most texts in one call. */
  readonly most: number;
  /** Further members that requests may have. */
  readonly fields: ReadonlySet<string>;
  readonly body: (texts: EmbeddingTexts) => Fields;
}

/** By what the names of their models contain. Source: the provider's guide to the parameters of models. */
const FAMILIES: Readonly<Record<string, InvokedFamily>> = {
  titan: {
    most: 1,
    fields: new Set(['normalize']),
    body: ({ inputs: [inputText], dimensions, isCustom }) => ({ inputText, ...(isCustom && { dimensions }) }),
  },
  cohere: {
    most: 96,
    fields: new Set(['input_type', 'truncate', 'max_tokens']),
    body: ({ inputs: texts, dimensions, isCustom }) => ({
      texts,
      ...(isCustom && { output_dimension: dimensions }),
    }),
  },
};

/** The API refuses requests to Cohere without a type. */
const USUAL_TYPE = 'search_document';

const familyIn = (model: string): string | undefined =>
  Object.keys(FAMILIES).find((name) => model.toLowerCase().includes(name));

/** The most texts in one call of a model. */
export const mostTextsOf = (model: string): number => FAMILIES[familyIn(model) ?? '']?.most ?? 1;

/** The body of `InvokeModel`. Throws for a model of a family whose form is not known. */
export function invokeBody(model: string, texts: EmbeddingTexts): Fields {
  const name = familyIn(model);
  const family = FAMILIES[name ?? ''];
  if (!family) throw new Error('only models with titan or cohere in their names make embeddings at Bedrock');
  const type = name === 'cohere' ? { input_type: USUAL_TYPE } : {};
  return { ...type, ...membersOf(texts.others, family.fields), ...family.body(texts) };
}

const Count = z.int().nonnegative().optional().catch(undefined);

const Rows = z.array(z.array(z.number()));
const Titan = z.object({ embedding: z.array(z.number()), inputTextTokenCount: Count });
/** Embed v4 has vectors by their type. */
const Cohere = z.object({
  embeddings: z.union([Rows, z.object({ float: Rows }).transform(({ float }) => float)]),
});

/** In every response of `InvokeModel`; those of Cohere have their count nowhere else. */
const TOKENS_HEADER = 'x-amzn-bedrock-input-token-count';

/** The vectors in a response, in the order of their texts, and their tokens; undefined if it has none. */
export function invokedVectors(
  body: string,
  headers: ResponseHeaders,
):
  | { readonly vectors: readonly (readonly number[])[]; readonly promptTokens: number | undefined }
  | undefined {
  const response = jsonOrUndefined(body, RESPONSE_JSON_LIMITS);
  const inHeader = headers[TOKENS_HEADER];
  const counted = inHeader === undefined ? undefined : Count.parse(Number(inHeader));
  const titan = Titan.safeParse(response).data;
  if (titan) return { vectors: [titan.embedding], promptTokens: titan.inputTextTokenCount ?? counted };
  const cohere = Cohere.safeParse(response).data;
  return cohere && { vectors: cohere.embeddings, promptTokens: counted };
}
