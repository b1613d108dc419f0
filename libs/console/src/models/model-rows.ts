import type { ModelView } from '@svc/api/models';
import { usd } from '../text/format.js';

const UNITS: Readonly<Record<ModelView['type'], string>> = {
  text: 'per 1M tokens',
  embedding: 'per 1M tokens',
  rerank: 'per 1M tokens, or per search',
  moderation: 'per 1M tokens',
  tts: 'per 1M characters',
  asr: 'per second of audio',
  image: 'per image',
  inpaint: 'per image',
  upscale: 'per image',
  music: 'per track',
  video: 'by quote',
};

const isPrice = (value: unknown): value is { usd: number } =>
  typeof value === 'object' && value !== null && 'usd' in value && typeof value.usd === 'number';

/** A price with its name, such as `input` or `quality 2K high`. */
interface NamedPrice {
  readonly name: string;
  readonly usd: number;
}

/** `supportsFunctionCalling` as `function calling`. */
const words = (name: string): string =>
  name
    .replace(/^(?:supports|optimizedFor)/, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[A-Z][a-z]/g, (letters) => letters.toLowerCase());

/** Every price of a model, whatever the shape of its type. */
export function pricesOf(pricing: unknown, path: readonly string[] = []): NamedPrice[] {
  if (isPrice(pricing)) return [{ name: words(path.join(' ').replaceAll('_', ' ')), usd: pricing.usd }];
  if (typeof pricing !== 'object' || pricing === null) return [];
  return Object.entries(pricing).flatMap(([name, value]) => pricesOf(value, [...path, name]));
}

/** The prices of a model, with their unit. */
export const unitOf = ({ type }: ModelView): string => UNITS[type];

export const pricingOf = ({ model_spec: spec }: ModelView): unknown =>
  'pricing' in spec ? spec.pricing : undefined;

export const priceTexts = (model: ModelView): string[] =>
  pricesOf(pricingOf(model)).map(({ name, usd: amount }) => `${name} ${usd(amount)}`);

/** What a model can do, by the members of its capabilities that are true. */
export function abilitiesOf({ model_spec: spec }: ModelView): string[] {
  const capabilities = 'capabilities' in spec ? (spec.capabilities ?? {}) : {};
  return Object.entries(capabilities)
    .filter(([, value]) => value === true)
    .map(([name]) => words(name));
}

export const contextOf = (model: ModelView): number | undefined =>
  model.type === 'text' ? model.context_length : undefined;
