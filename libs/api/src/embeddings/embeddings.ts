import { z } from 'zod';
import { unknownHere } from '../chat/chat-request.js';
import { Cost } from '../chat/chat-response.js';

/** The most texts of one request. Source: the public interface. */
const INPUTS_AT_MOST = 2_048;

const TOKEN_ARRAYS =
  "Token array inputs are not supported. Pass a string or an array of strings. With LangChain's OpenAIEmbeddings, set check_embedding_ctx_length=False.";

const isTokens = (value: unknown): boolean => typeof value === 'number' || Array.isArray(value);

const Text = z.string({ error: ({ input }) => (isTokens(input) ? TOKEN_ARRAYS : undefined) });

/** Texts to turn into vectors. Unknown fields are passed to the backend. */
export const EmbeddingRequest = z.looseObject({
  model: z.string().min(1).describe('The id or an alias of an embedding model.'),
  input: z
    .union([z.string().min(1), z.array(Text).min(1).max(INPUTS_AT_MOST)])
    .describe('One text, or up to 2,048 texts. Arrays of tokens are rejected.'),
  encoding_format: z
    .enum(['float', 'base64'])
    .nullish()
    .describe('`base64`: the bytes of 32-bit floats, little-endian. Default: `float`.'),
  dimensions: z
    .int()
    .min(1)
    .nullish()
    .describe('The length of each vector, for models with `supportsCustomDimensions`.'),
  user: z.string().nullish().describe('The end user whose request it is; only a hash of it is stored.'),
  svc_parameters: unknownHere('svc_parameters is not offered for embeddings: they are never encrypted'),
});

const Vector = z.union([z.array(z.number()), z.string()]);

export const EmbeddingReply = z.object({
  object: z.literal('list'),
  model: z.string(),
  data: z.array(z.object({ object: z.literal('embedding'), index: z.int(), embedding: Vector })),
  usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  cost: Cost,
});

export type EmbeddingRequest = z.infer<typeof EmbeddingRequest>;
export type EmbeddingReply = z.infer<typeof EmbeddingReply>;
