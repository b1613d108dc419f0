import { createHash } from 'node:crypto';
import {
  type CatalogEntry,
  type CatalogFile,
  EXTRAS,
  IMAGE_QUALITIES,
  IMAGE_RESOLUTIONS,
  MODEL_TYPES,
  imageUsd,
  musicPrice,
} from '@svc/contracts/catalog';
import { SERVICE_TIERS, type ServiceTier } from '@svc/contracts/money';
import { NamedModels } from './named-models.js';

/** What is paid for something, in USD: by what is counted, such as `input`. */
type Prices = Readonly<Record<string, number | undefined>>;

/** Something that is sold, with its prices after all defaults. */
interface Sold {
  /** A model, or another part of the catalogue. */
  readonly name: string;
  readonly unit: string;
  readonly prices: Prices;
}

/** A price that differs between two catalogues. */
export interface PriceMove {
  /** What is sold, in words. */
  readonly name: string;
  /** What is counted: empty if there is only one price. */
  readonly counted: string;
  readonly unit: string;
  readonly before: number;
  readonly after: number;
}

const UNITS: Readonly<Record<CatalogEntry['type'], string>> = {
  text: 'USD per million tokens',
  embedding: 'USD per million tokens',
  rerank: 'USD per million tokens, or per search',
  moderation: 'USD per million tokens',
  tts: 'USD per million characters',
  asr: 'USD per second of audio',
  image: 'USD per image',
  inpaint: 'USD per image',
  upscale: 'USD per image',
  video: 'USD per second of video',
  music: 'USD per track',
};

/** The length of lyrics and prompt for which the price of a track is compared. */
const TRACK_CHARACTERS = 1_000;

/** The prices of a model as they are charged: what has no price of its own has that of its default. */
function modelPrices(model: CatalogEntry, tiers = tiersOf(model)): Prices {
  switch (model.type) {
    case 'text': {
      const { extended = model.pricing } = model.pricing;
      const beyond = Object.entries(tokenPrices(extended)).map(([name, usd]) => [`extended ${name}`, usd]);
      const usual = { ...tokenPrices(model.pricing), ...(Object.fromEntries(beyond) as Prices) };
      return { ...usual, ...pricesInTiers(usual, model.serviceTiers ?? {}, tiers) };
    }
    case 'embedding':
    case 'rerank':
    case 'moderation':
    case 'tts':
    case 'asr':
      return model.pricing;
    case 'image':
      return imagePrices(model.pricing);
    case 'inpaint': {
      const { inpaint: generation, inputImages, ...tiers } = model.pricing;
      return { ...imagePrices({ generation, ...tiers }), 'further image': inputImages?.additional ?? 0 };
    }
    case 'upscale':
      return model.pricing.upscale;
    case 'video':
      return videoPrices(model);
    case 'music':
      return trackPrices(model);
  }
}

const tiersOf = (model: CatalogEntry): readonly ServiceTier[] =>
  SERVICE_TIERS.filter((name) => model.type === 'text' && model.serviceTiers?.[name]);

/** The prices in these tiers; those of a tier that a model does not have are its usual ones. */
function pricesInTiers(
  usual: Prices,
  offered: { readonly [Tier in ServiceTier]?: { readonly priceFactor: number } | undefined },
  names: readonly ServiceTier[],
): Prices {
  const prices = names.flatMap((name) =>
    Object.entries(usual).map(([counted, usd = 0]) => [
      `${name} ${counted}`,
      usd * (offered[name]?.priceFactor ?? 1),
    ]),
  );
  return Object.fromEntries(prices) as Prices;
}

function tokenPrices(usd: {
  readonly input: number;
  readonly output: number;
  readonly cacheInput?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly cacheWriteHour?: number | undefined;
}): Prices {
  const { input, output, cacheInput = input, cacheWrite = input, cacheWriteHour = cacheWrite } = usd;
  const writes = { 'cache writes': cacheWrite, 'cache writes for an hour': cacheWriteHour };
  return { input, output, 'cached input': cacheInput, ...writes };
}

function imagePrices(pricing: Parameters<typeof imageUsd>[0]): Prices {
  const tiers = IMAGE_RESOLUTIONS.flatMap((resolution) =>
    [undefined, ...IMAGE_QUALITIES].map((quality) => ({ resolution, quality })),
  );
  const prices = tiers.map((tier) => [
    [tier.resolution, tier.quality].filter((part) => part !== undefined).join(' '),
    imageUsd(pricing, tier),
  ]);
  return { '': pricing.generation, ...(Object.fromEntries(prices) as Prices) };
}

function videoPrices({
  pricing: { perSecond, perSecondWithAudio = perSecond },
  constraints: { resolutions },
}: Extract<CatalogEntry, { type: 'video' }>): Prices {
  const [usual = ''] = resolutions;
  const sounds = [
    ['', perSecond],
    ['with sound', perSecondWithAudio],
  ] as const;
  return Object.fromEntries(
    sounds.flatMap(([sound, usd]) =>
      ['', ...resolutions].map((resolution) => [
        [resolution, sound].filter((part) => part !== '').join(' '),
        typeof usd === 'number' ? usd : usd[resolution === '' ? usual : resolution],
      ]),
    ),
  );
}

/** Compared by the track, because the members of the price differ in what they count. */
function trackPrices(model: Extract<CatalogEntry, { type: 'music' }>): Prices {
  const { minDuration, maxDuration, defaultDuration, durationOptions } = model.constraints;
  const tiers = 'durations' in model.pricing ? Object.keys(model.pricing.durations).map(Number) : [];
  const lengths = [...durationOptions, ...tiers].filter((s) => s >= minDuration && s <= maxDuration);
  const named: readonly (readonly [string, number])[] = [
    ['default length', defaultDuration],
    ['shortest', minDuration],
    ['longest', maxDuration],
    ...lengths.map((seconds) => [`${seconds} s`, seconds] as const),
  ];
  return Object.fromEntries(
    named.map(([name, seconds]) => {
      const { price, units } = musicPrice(model, { seconds, characters: TRACK_CHARACTERS });
      return [name, (Number(price.priceNanoPerMillion) * units) / 1e15];
    }),
  );
}

/** What is sold in addition to models. */
function otherSold({ extras, search, cryptoRpc }: CatalogFile): Sold[] {
  const { webSearch = 0 } = extras;
  const providers = search?.providers ?? [];
  const searches = providers.map(({ name, kind, price = webSearch }) => [name ?? kind, price] as const);
  const networks = Object.entries(cryptoRpc?.networks ?? {}).map(([name, { credits, methods = {} }]) => {
    const factors = Object.entries({ '': 1, ...methods });
    const usd = (cryptoRpc?.creditUsd ?? 0) * credits;
    const prices = Object.fromEntries(factors.map(([method, factor]) => [method, usd * factor]));
    return { name: `network ${name}`, unit: 'USD per call', prices };
  });
  return [
    ...EXTRAS.map((name) => ({ name, unit: 'USD each', prices: { '': extras[name] ?? 0 } })),
    {
      name: 'searches',
      unit: 'USD each',
      // A new provider has no earlier price, so the highest one counts too.
      prices: {
        ...Object.fromEntries(searches.map(([name, usd]) => [`by ${name}`, usd])),
        'by the dearest provider': Math.max(webSearch, ...searches.map(([, usd]) => usd)),
      },
    },
    ...networks,
    ...(cryptoRpc
      ? [
          {
            name: 'blockchain nodes',
            unit: 'USD per failed call',
            prices: { '': cryptoRpc.errorCredits * cryptoRpc.creditUsd },
          },
        ]
      : []),
  ];
}

type ModelNames = ReadonlyMap<string, CatalogEntry>;

/** The model of each name that a request may give: ids, aliases and traits, by type. */
export function modelNames({ models }: CatalogFile): ReadonlyMap<CatalogEntry['type'], ModelNames> {
  return new Map(
    MODEL_TYPES.map((type) => [type, new NamedModels(models.filter((model) => model.type === type)).names]),
  );
}

/**
 * The prices that a request finds changed. A name that now belongs to another model has that model's prices.
 */
export function priceMoves(before: CatalogFile, after: CatalogFile): PriceMove[] {
  const olds = modelNames(before);
  const ofModels = [...modelNames(after)].flatMap(([type, names]) =>
    [...names].flatMap(([name, model]) => {
      const old = olds.get(type)?.get(name);
      // A model whose id stays the same is compared once, by its id.
      if (!old || (old.id === model.id && name !== model.id.toLowerCase())) return [];
      const shown = name === model.id.toLowerCase() ? model.id : `${name} (now ${model.id})`;
      const sold = { name: shown, unit: UNITS[type], prices: modelPrices(model) };
      return movesOf(modelPrices(old, tiersOf(model)), sold);
    }),
  );
  const oldOthers = new Map(otherSold(before).map(({ name, prices }) => [name, prices]));
  return [...ofModels, ...otherSold(after).flatMap((sold) => movesOf(oldOthers.get(sold.name) ?? {}, sold))];
}

function movesOf(old: Prices, { name, unit, prices }: Sold): PriceMove[] {
  return Object.entries(prices).flatMap(([counted, after]) => {
    const before = Object.hasOwn(old, counted) ? old[counted] : undefined;
    if (before === undefined || after === undefined || before === after) return [];
    return [{ name, counted, unit, before, after }];
  });
}

/** Whether a price moves by more than a factor. One that begins or ceases to be charged always does. */
export function isJump({ before, after }: PriceMove, factor: number): boolean {
  // The tolerance allows for prices that are products, such as credits.
  return Math.max(before, after) > Math.min(before, after) * factor * (1 + 1e-9);
}

/** Identifies all prices of a catalogue, so that only these are confirmed. */
export function priceMark(file: CatalogFile): string {
  const models = [...modelNames(file)].flatMap(([type, names]) =>
    [...names].map(([name, model]) => [type, name, modelPrices(model)]),
  );
  const digest = createHash('sha256').update(JSON.stringify([models, otherSold(file)]));
  return `prices-${digest.digest('hex').slice(0, 12)}`;
}

/**
 * Prices in words, in one sentence for all that change together: `gpt-4o: input, cache writes: 150 USD per
 * million tokens instead of 0.15 (× 1000)`.
 */
export function movesText(moves: readonly PriceMove[]): string[] {
  const groups = Map.groupBy(moves, ({ name, unit, before, after }) =>
    JSON.stringify([name, unit, before, after]),
  );
  return [...groups.values()].flatMap(([first, ...others]) => {
    if (!first) return [];
    const { name, unit, before, after } = first;
    const counted = [first, ...others].map((move) => move.counted).filter((part) => part !== '');
    const factor = before > 0 && after > 0 ? ` (× ${Number((after / before).toPrecision(3))})` : '';
    const subject = [name, ...(counted.length > 0 ? [counted.join(', ')] : [])].join(': ');
    return [`${subject}: ${amount(after)} ${unit} instead of ${amount(before)}${factor}`];
  });
}

const amount = (usd: number): string => String(Number(usd.toPrecision(9)));

/** The prices of a model in words. */
export function pricesText(model: CatalogEntry): string {
  const priced = Object.entries(modelPrices(model)).flatMap(([counted, usd]) =>
    usd === undefined ? [] : [{ counted, usd }],
  );
  const groups = [...Map.groupBy(priced, ({ usd }) => usd)].map(([usd, those]) => {
    const counted = those.map((one) => one.counted).filter((part) => part !== '');
    return `${counted.join(', ')} ${amount(usd)}`.trim();
  });
  return `${groups.join('; ')} ${UNITS[model.type]}`;
}
