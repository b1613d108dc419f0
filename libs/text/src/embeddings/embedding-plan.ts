import type { Catalog, EmbeddingModel } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import { EmbeddingRequest } from '@svc/api/embeddings';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import { withoutSteering, unknownFieldsOf } from '@svc/paid/json';
import { type ModelSale, sellModel } from '@svc/paid/paid';

/** The plan for an embeddings request. */
export interface EmbeddingPlan {
  readonly sale: ModelSale<EmbeddingModel>;
  readonly texts: readonly string[];
  /** The length of each vector. */
  readonly dimensions: number;
  readonly format: 'float' | 'base64';
  /** The fields for the backend. */
  readonly others: Record<string, unknown>;
  /** Estimated tokens of all texts. */
  readonly tokens: number;
  /** Upper bound for a backend's token count. */
  readonly tokensAtMost: number;
}

/** Source of both: the public interface. */
const CHARACTERS_PER_TOKEN = 3.2;
const ESTIMATE_SHARE = 0.95;

/** The most tokens that a tokenizer adds to a text. */
const SPECIAL_TOKENS_AT_MOST = 8;

/** Names under which servers take texts or images, which are not counted. */
const OTHER_INPUTS = ['messages', 'prompt', 'prompts', 'inputs', 'text', 'texts', 'image', 'images'];

const unknownOf = unknownFieldsOf(EmbeddingRequest.shape);

function othersOf(request: EmbeddingRequest, model: EmbeddingModel): Record<string, unknown> {
  const others = withoutSteering(unknownOf(request), model);
  return Object.fromEntries(Object.entries(others).filter(([name]) => !OTHER_INPUTS.includes(name)));
}

/**
 * Plans a request. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE, PRO_ONLY_MODEL, UNAUTHORIZED,
 * INVALID_REQUEST.
 */
export function planEmbeddings(request: EmbeddingRequest, caller: Caller, catalog: Catalog): EmbeddingPlan {
  const sale = sellModel(request.model, catalog.ofType('embedding'), { caller, catalog });
  const { model } = sale;
  const texts = typeof request.input === 'string' ? [request.input] : request.input;
  let tokens = 0;
  let tokensAtMost = 0;
  for (const [index, text] of texts.entries()) {
    const estimate = Math.ceil((text.length / CHARACTERS_PER_TOKEN) * ESTIMATE_SHARE);
    if (estimate > model.maxInputTokens) throw tooLong(model, request, index);
    tokens += estimate;
    tokensAtMost += Math.min(Buffer.byteLength(text) + SPECIAL_TOKENS_AT_MOST, model.maxInputTokens);
  }
  return {
    sale,
    texts,
    dimensions: dimensionsOf(request, model),
    format: request.encoding_format ?? 'float',
    others: othersOf(request, model),
    tokens,
    tokensAtMost,
  };
}

function tooLong({ maxInputTokens }: EmbeddingModel, { input }: EmbeddingRequest, index: number): Problem {
  const message = `Input text exceeds the maximum token limit of ${maxInputTokens} tokens`;
  const path = typeof input === 'string' ? ['input'] : ['input', index];
  return invalidRequest([{ code: 'too_big', path, message }]);
}

function dimensionsOf({ dimensions }: EmbeddingRequest, model: EmbeddingModel): number {
  const { id, embeddingDimensions: own, supportsCustomDimensions } = model;
  if (dimensions === null || dimensions === undefined || dimensions === own) return own;
  const refused = supportsCustomDimensions
    ? dimensions > own && `The vectors of ${id} have at most ${own} dimensions.`
    : `${id} does not support \`dimensions\`. Its vectors have ${own}.`;
  if (refused === false) return dimensions;
  throw invalidRequest([{ code: 'custom', path: ['dimensions'], message: refused }]);
}
