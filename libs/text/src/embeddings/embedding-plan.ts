import type { Catalog, EmbeddingModel } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import type { EmbeddingTexts } from '@svc/contracts/inference';
import { EmbeddingRequest } from '@svc/api/embeddings';
import { type Problem, invalidRequest } from '@svc/contracts/problems';
import { withoutSteering, unknownFieldsOf } from '@svc/paid/json';
import { type ModelSale, sellModel } from '@svc/paid/paid';
import { inputBounds, measured } from '../inputs/input-tokens.js';
import type { InputSale } from '../inputs/input-sales.js';

/** The plan for an embeddings request. */
export interface EmbeddingPlan extends Pick<InputSale<never>, 'bounds'> {
  readonly sale: ModelSale<EmbeddingModel>;
  readonly texts: EmbeddingTexts;
}

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
  const inputs = typeof request.input === 'string' ? [request.input] : request.input;
  const texts = inputs.map(measured);
  const long = texts.findIndex(({ tokens }) => tokens > model.maxInputTokens);
  if (long >= 0) throw tooLong(model, request, long);
  const dimensions = dimensionsOf(request, model);
  const isCustom = dimensions !== model.embeddingDimensions;
  return {
    sale,
    texts: { inputs, dimensions, isCustom, others: othersOf(request, model) },
    bounds: inputBounds(texts, model.maxInputTokens),
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
