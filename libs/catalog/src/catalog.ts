import {
  Backend,
  type Band,
  CatalogEntry,
  CatalogFile,
  type CatalogModel,
  type CryptoRpc,
  type CatalogEmbeddingModel,
  type CatalogSpeechModel,
  type CatalogTranscriptionModel,
  type Extra,
  MODEL_TYPES,
  type OtherLimit,
  Scraping,
  type Search,
  tieredNano,
} from '@svc/contracts/catalog';
import { type Limit, perMinute } from '@svc/contracts/ports';
import { SERVICE_TIERS, type ServiceTier, usdToNano } from '@svc/contracts/money';
import { NamedModels } from './named-models.js';
import type { OperatorFile } from './operator-file.js';

/** Nano-dollars per million tokens. */
export interface Rates {
  readonly inputNano: bigint;
  readonly outputNano: bigint;
  readonly cacheInputNano: bigint;
  readonly cacheWriteNano: bigint;
  /** Of tokens that are written for an hour. */
  readonly cacheWriteHourNano: bigint;
}

/** What tokens cost, and what a hosted provider takes for them if that is known. */
interface SoldRates {
  readonly rates: Rates;
  readonly providerRates?: Rates | undefined;
}

/** A model with its prices in the units of the billing code. */
export interface Model extends CatalogModel, SoldRates {
  /** The rates of requests whose prompt has more tokens than the threshold. */
  readonly extended?: SoldRates & { readonly thresholdTokens: number };
  /** The tier that the rates are for; absent for the default one. */
  readonly soldTier?: SoldTier;
  /** The same model in its other tiers. */
  readonly inTier?: { readonly [Tier in ServiceTier]?: Model };
}

/** A tier of service that a model is sold in. */
interface SoldTier {
  readonly name: ServiceTier;
  readonly band: Band;
  readonly weight: number;
}

/** A model that turns texts into vectors. */
export interface EmbeddingModel extends CatalogEmbeddingModel {
  /** Nano-dollars per million tokens. */
  readonly inputNano: bigint;
}

/** A model that speaks texts. */
export interface SpeechModel extends CatalogSpeechModel {
  /** Nano-dollars per million characters. */
  readonly inputNano: bigint;
}

/** A model that transcribes audio. */
export interface TranscriptionModel extends CatalogTranscriptionModel {
  /** Nano-dollars per million milliseconds of audio. */
  readonly audioNano: bigint;
}

type ModelType = CatalogEntry['type'];

/** Models whose prices the billing code needs in other units than the catalogue has. */
interface PricedModels {
  readonly text: Model;
  readonly embedding: EmbeddingModel;
  readonly tts: SpeechModel;
  readonly asr: TranscriptionModel;
}

type ModelOf<Type extends ModelType> = Type extends keyof PricedModels
  ? PricedModels[Type]
  : Extract<CatalogEntry, { readonly type: Type }>;

/** In the order in which names are looked up. */
const TYPES: readonly ModelType[] = ['text', ...MODEL_TYPES.filter((type) => type !== 'text')];

type BackendsByName = ReadonlyMap<string, readonly Backend[]>;

type TierTable = CatalogFile['tiers'];

const NO_FIELDS: ReadonlySet<string> = new Set();

/** The models and their prices. Read from files at start and again when they change. */
export class Catalog {
  private models: ReadonlyMap<ModelType, NamedModels<CatalogEntry>> = new Map();
  private all: readonly CatalogEntry[] = [];
  private byModel: BackendsByName = new Map();
  private byNetwork: BackendsByName = new Map();
  private extraFieldsById: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  private sharing: ReadonlySet<string> = new Set();
  private tiers: TierTable = {};
  private otherLimits: NonNullable<CatalogFile['otherLimits']> = {};
  private housePrompts: readonly string[] = [];
  private extras: CatalogFile['extras'] = {};
  private webSearch: Search | undefined;
  private webScraping = Scraping.parse({});
  private rpc: CryptoRpc | undefined;
  private readonly listeners: (() => void)[] = [];

  /** `source`: the file that it follows. */
  constructor(
    file: CatalogFile,
    readonly source?: OperatorFile<CatalogFile>,
  ) {
    this.replace(file);
    source?.onReplaced((next) => this.replace(next));
  }

  /** Calls a listener after each new catalogue. */
  onReplaced(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Replaces the catalogue atomically; requests in flight keep the model they found. */
  replace(file: CatalogFile): void {
    const find = (name: string): CatalogEntry | undefined => this.find(name);
    this.models = new Map(TYPES.map((type) => [type, new NamedModels(ofType(file, type), find)]));
    this.rpc = file.cryptoRpc;
    this.byModel = new Map(file.models.map(({ id, backends }) => [id, backends]));
    this.byNetwork = new Map(nodesOf(file.cryptoRpc));
    this.extraFieldsById = new Map(file.models.map(({ id, extraFields }) => [id, new Set(extraFields)]));
    this.sharing = new Set(
      file.models.flatMap((model) => (model.type === 'text' && model.sharesPrompts ? [model.id] : [])),
    );
    this.all = file.models;
    this.tiers = file.tiers;
    this.otherLimits = file.otherLimits ?? {};
    this.housePrompts = file.housePrompts ?? [];
    this.extras = file.extras;
    this.webSearch = file.search;
    this.webScraping = file.scraping ?? Scraping.parse({});
    for (const listener of this.listeners) listener();
  }

  /** The models of one type, with their prices in the units of the billing code. */
  ofType<Type extends ModelType>(type: Type): NamedModels<ModelOf<Type>> {
    return this.models.get(type) as NamedModels<CatalogEntry> as NamedModels<ModelOf<Type>>;
  }

  get text(): NamedModels<Model> {
    return this.ofType('text');
  }

  /** The first model of any type with this name; those for text come first. */
  find(name: string): CatalogEntry | undefined {
    for (const models of this.models.values()) {
      const model = models.find(name);
      if (model) return model;
    }
    return undefined;
  }

  /** The models of every type. */
  entries(): readonly CatalogEntry[] {
    return this.all;
  }

  /** The backends of a model, by its id. */
  backendsOf(id: string): readonly Backend[] {
    return this.byModel.get(id) ?? [];
  }

  /** The nodes of a blockchain network. */
  nodesOf(network: string): readonly Backend[] {
    return this.byNetwork.get(network) ?? [];
  }

  /** The fields of requests that the backends of a model get in addition, by its id. */
  extraFieldsOf(id: string): ReadonlySet<string> {
    return this.extraFieldsById.get(id) ?? NO_FIELDS;
  }

  /** Whether prompts of different accounts may be in the same cache of a model's backends. */
  sharesPrompts(id: string): boolean {
    return this.sharing.has(id);
  }

  backends(): readonly Backend[] {
    return [...this.byModel.values(), ...this.byNetwork.values()].flat();
  }

  /** The backends of all models, by their ids. */
  get backendsByModel(): BackendsByName {
    return this.byModel;
  }

  /** The nodes of all blockchain networks. */
  get nodesByNetwork(): BackendsByName {
    return this.byNetwork;
  }

  /** The service's own system prompts for a model. */
  housePromptsFor(model: Model): readonly string[] {
    return model.housePrompts ?? this.housePrompts;
  }

  /** The web search settings; `undefined` without web search. */
  get search(): Search | undefined {
    return this.webSearch;
  }

  /** The blockchain networks; `undefined` without any. */
  get cryptoRpc(): CryptoRpc | undefined {
    return this.rpc;
  }

  /** The settings for reading web pages. */
  get scraping(): Scraping {
    return this.webScraping;
  }

  /** The price of one unit of an extra, in nano-dollars. */
  extraNano(extra: Extra): bigint {
    return usdToNano(this.extras[extra] ?? 0);
  }

  /** The limits that accounts of a tier have for a model. */
  accountLimits(model: CatalogEntry, accountTier: 'standard' | 'partner'): Limit[] {
    if (model.type !== 'text') return this.requestLimits(LIMIT_OF_TYPE[model.type], accountTier);
    return limitsOfTier(this.tiers[model.tier], accountTier);
  }

  /** The limits that accounts of a tier have for calls of blockchain nodes. */
  rpcLimits(accountTier: 'standard' | 'partner'): Limit[] {
    return limitsOfTier(this.rpc?.limits, accountTier);
  }

  /** The limits that accounts of a tier have for a kind of requests. */
  requestLimits(kind: OtherLimit, accountTier: 'standard' | 'partner'): Limit[] {
    return limitsOfTier(this.otherLimits[kind], accountTier);
  }

  /** The limits of the whole service for a model. */
  globalLimits(model: CatalogEntry): Limit[] {
    return model.type === 'text' && model.globalLimits ? perMinute('global', model.globalLimits) : [];
  }
}

/** The nodes of each network as backends. */
function nodesOf(rpc: CryptoRpc | undefined): [string, Backend[]][] {
  return Object.entries(rpc?.networks ?? {}).map(([network, { nodes }]) => [
    network,
    nodes.map((node) => Backend.parse({ kind: 'json-rpc', model: network, ...node })),
  ]);
}

type TierOf<Limits> = { readonly standard: Limits; readonly partner?: Limits | undefined };

function limitsOfTier<Limits extends Parameters<typeof perMinute>[1]>(
  table: TierOf<Limits> | undefined,
  accountTier: 'standard' | 'partner',
): Limit[] {
  const limits = (accountTier === 'partner' ? table?.partner : undefined) ?? table?.standard;
  return limits ? perMinute('user', limits) : [];
}

/** The limit of the requests that use a model. Retrieving the results of jobs has a limit of its own. */
const LIMIT_OF_TYPE: Readonly<Record<Exclude<CatalogEntry['type'], 'text'>, OtherLimit>> = {
  image: 'image',
  inpaint: 'image',
  upscale: 'image',
  asr: 'audio',
  tts: 'audio',
  music: 'videoQueue',
  embedding: 'embedding',
  rerank: 'embedding',
  moderation: 'embedding',
  video: 'videoQueue',
};

function ofType({ models }: CatalogFile, type: ModelType): CatalogEntry[] {
  return models.filter((model) => model.type === type).map(priced);
}

function priced(model: CatalogEntry): PricedModels[keyof PricedModels] | CatalogEntry {
  if (model.type === 'text') return pricedText(model);
  if (model.type === 'asr') return { ...model, audioNano: usdToNano(model.pricing.perAudioSecond) * 1_000n };
  if (model.type === 'embedding' || model.type === 'tts')
    return { ...model, inputNano: usdToNano(model.pricing.input) };
  return model;
}

function pricedText(model: CatalogModel): Model {
  const { pricing, providerPricing: provider } = model;
  const { extended } = pricing;
  const usual: Model = {
    ...model,
    rates: ratesOf(pricing),
    ...(provider && { providerRates: ratesOf(provider) }),
    ...(extended && {
      extended: {
        thresholdTokens: extended.contextTokenThreshold,
        rates: ratesOf(extended),
        ...(provider?.extended && { providerRates: ratesOf(provider.extended) }),
      },
    }),
  };
  if (!model.serviceTiers) return usual;
  const tiers = SERVICE_TIERS.flatMap((name) => {
    const tier = model.serviceTiers?.[name];
    if (!tier) return [];
    const { band, weight } = tier;
    const { rates, extended: beyond } = usual;
    const tiered: Model = {
      ...usual,
      rates: ratesInTier(rates, tier),
      ...(beyond && { extended: { ...beyond, rates: ratesInTier(beyond.rates, tier) } }),
      soldTier: { name, band, weight },
    };
    return [[name, tiered] as const];
  });
  return { ...usual, inTier: Object.fromEntries(tiers) };
}

function ratesInTier(rates: Rates, tier: { readonly priceFactor: number }): Rates {
  return {
    inputNano: tieredNano(rates.inputNano, tier),
    outputNano: tieredNano(rates.outputNano, tier),
    cacheInputNano: tieredNano(rates.cacheInputNano, tier),
    cacheWriteNano: tieredNano(rates.cacheWriteNano, tier),
    cacheWriteHourNano: tieredNano(rates.cacheWriteHourNano, tier),
  };
}

function ratesOf(usd: {
  input: number;
  output: number;
  cacheInput?: number | undefined;
  cacheWrite?: number | undefined;
  cacheWriteHour?: number | undefined;
}): Rates {
  return {
    inputNano: usdToNano(usd.input),
    outputNano: usdToNano(usd.output),
    // Without their own price, cached and cache-written tokens cost as much as any prompt token.
    cacheInputNano: usdToNano(usd.cacheInput ?? usd.input),
    cacheWriteNano: usdToNano(usd.cacheWrite ?? usd.input),
    cacheWriteHourNano: usdToNano(usd.cacheWriteHour ?? usd.cacheWrite ?? usd.input),
  };
}
