import { z } from 'zod';
import { unknownHere } from '../chat/chat-request.js';
import { Cost } from '../chat/chat-response.js';

/** The most documents of one request. Source: Cohere's API. */
const DOCUMENTS_AT_MOST = 1_000;

/** Documents to rank. Unknown fields are for the backend, which gets those that its kind is known to take. */
export const RerankRequest = z.looseObject({
  model: z.string().min(1).describe('The id or an alias of a rerank model.'),
  query: z.string().min(1).describe('What the documents are ranked for.'),
  documents: z
    .array(z.union([z.string(), z.object({ text: z.string() })], 'must be a text or an object with a `text`'))
    .min(1)
    .max(DOCUMENTS_AT_MOST)
    .describe('Up to 1,000 texts, or objects with a `text`.'),
  top_n: z.int().min(1).nullish().describe('The most results. Default: all.'),
  return_documents: z.boolean().nullish().describe('Whether results have their `document`. Default: false.'),
  svc_parameters: unknownHere('svc_parameters is not offered for reranking: it is never encrypted'),
});

export const RerankReply = z.object({
  id: z.string(),
  model: z.string(),
  results: z
    .array(
      z.object({
        index: z.int().describe('The position in `documents`, from 0.'),
        relevance_score: z.number().describe('Comparable within a response; its range depends on the model.'),
        document: z.object({ text: z.string() }).optional(),
      }),
    )
    .describe('From the most relevant to the least.'),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  meta: z.object({
    billed_units: z
      .object({ input_tokens: z.int().optional(), search_units: z.int().optional() })
      .describe('What was charged: tokens, or searches for models that are sold by them.'),
  }),
  cost: Cost,
});

export type RerankRequest = z.infer<typeof RerankRequest>;
export type RerankReply = z.infer<typeof RerankReply>;
