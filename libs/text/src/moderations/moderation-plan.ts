import type { Catalog } from '@svc/catalog';
import type { Caller } from '@svc/contracts/ports';
import type { CatalogModerationModel } from '@svc/contracts/catalog';
import type { Verdicts } from '@svc/contracts/inference';
import { chargeLine } from '@svc/contracts/messages';
import { usdToNano } from '@svc/contracts/money';
import { invalidRequest } from '@svc/contracts/problems';
import type { ModerationRequest } from '@svc/api/moderations';
import { type ModelSale, sellModel } from '@svc/paid/paid';
import type { InputSale } from '../inputs/input-sales.js';
import { inputBounds, measured } from '../inputs/input-tokens.js';

type Part = Exclude<ModerationRequest['input'][number], string>;

/** The plan for a request to moderate. */
export interface ModerationPlan extends Pick<InputSale<Verdicts>, 'bounds' | 'line'> {
  readonly sale: ModelSale<CatalogModerationModel>;
  /** Each gets a verdict. */
  readonly inputs: readonly (string | readonly Part[])[];
}

/** The most that a guard model may count for an image. */
const IMAGE_TOKENS_AT_MOST = 16_384;

/**
 * Plans a request. Refuses: MODEL_NOT_FOUND, MODEL_RETIRED, MODEL_OFFLINE, PRO_ONLY_MODEL, UNAUTHORIZED,
 * INVALID_REQUEST.
 */
export function planModeration(
  { model: name, input }: ModerationRequest,
  caller: Caller,
  catalog: Catalog,
): ModerationPlan {
  const sale = sellModel(name ?? 'default', catalog.ofType('moderation'), { caller, catalog });
  const { id, maxInputTokens, supportsVision, guard, pricing } = sale.model;
  const inputs = inputsOf(input);
  const images = inputs.flatMap((one) => (typeof one === 'string' ? [] : one.filter(isImage)));
  if (images.length > 0 && !supportsVision)
    throw refusal([inputs.flat().findIndex(isImage)], `${id} does not judge images`);
  const texts = inputs.map((one) => measured(textOf(one)));
  const long = texts.findIndex(({ tokens }) => tokens > maxInputTokens);
  if (long >= 0) {
    const path = Array.isArray(input) && typeof input[0] === 'string' ? [long] : [];
    throw refusal(path, `Input text exceeds the maximum token limit of ${maxInputTokens} tokens`);
  }
  const bounds = inputBounds(texts, maxInputTokens);
  const added = (guard ? guard.templateTokens * inputs.length : 0) + images.length * IMAGE_TOKENS_AT_MOST;
  const price = {
    sku: `${id}-moderation-input-mtoken`,
    unit: 'token',
    priceNanoPerMillion: usdToNano(pricing.input),
  } as const;
  return {
    sale,
    inputs,
    bounds: { ...bounds, tokensAtMost: bounds.tokensAtMost + added },
    line: (tokens) => chargeLine(price, tokens),
  };
}

/** A list of parts is one input. */
function inputsOf(input: ModerationRequest['input']): ModerationPlan['inputs'] {
  if (typeof input === 'string') return [input];
  const parts = input.filter((one) => typeof one !== 'string');
  return parts.length > 0 ? [parts] : input.filter((one) => typeof one === 'string');
}

const isImage = (part: string | Part): boolean => typeof part !== 'string' && part.type === 'image_url';

const textOf = (input: string | readonly Part[]): string =>
  typeof input === 'string' ? input : input.map((part) => (part.type === 'text' ? part.text : '')).join('\n');

const refusal = (path: number[], message: string) =>
  invalidRequest([{ code: 'custom', path: ['input', ...path], message }]);
