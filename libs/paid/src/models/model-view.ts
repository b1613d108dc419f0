import {
  type CatalogEntry,
  type CatalogModel,
  type CatalogEmbeddingModel,
  type CatalogEditModel,
  type CatalogImageModel,
  type CatalogMusicModel,
  type CatalogModerationModel,
  type CatalogRerankModel,
  type CatalogVideoModel,
  type CatalogSpeechModel,
  type CatalogTranscriptionModel,
  type CatalogUpscaleModel,
  type PriceTree,
  tieredNano,
} from '@svc/contracts/catalog';
import { VOICE_DAYS } from '@svc/api/audio';
import { SERVICE_TIERS, usdNumber, usdToNano } from '@svc/contracts/money';
import type {
  ModelView,
  EmbeddingModelView,
  SpeechModelView,
  MusicModelView,
  TranscriptionModelView,
  ImageModelView,
  EditModelView,
  VideoModelView,
  UpscaleModelView,
  OtherModelView,
  PricingView,
  TextModelView,
} from '@svc/api/models';

/** A model of the catalogue as clients see it. */
export function modelView(entry: CatalogEntry): ModelView {
  if (entry.type === 'text') return textModelView(entry);
  if (entry.type === 'embedding') return embeddingModelView(entry);
  if (entry.type === 'tts') return speechModelView(entry);
  if (entry.type === 'asr') return transcriptionModelView(entry);
  if (entry.type === 'image') return imageModelView(entry);
  if (entry.type === 'inpaint') return editModelView(entry);
  if (entry.type === 'video') return videoModelView(entry);
  if (entry.type === 'upscale') return upscaleModelView(entry);
  return entry.type === 'music' ? musicModelView(entry) : otherModelView(entry);
}

function textModelView(model: CatalogModel): TextModelView {
  return {
    ...identity(model),
    type: model.type,
    context_length: model.contextTokens,
    model_spec: {
      ...commonSpec(model),
      availableContextTokens: model.contextTokens,
      maxCompletionTokens: model.maxCompletionTokens,
      capabilities: model.capabilities,
      constraints: constraintsView(model),
      pricing: pricingView(model),
    },
  };
}

function embeddingModelView(model: CatalogEmbeddingModel): EmbeddingModelView {
  const { embeddingDimensions, maxInputTokens, supportsCustomDimensions, pricing } = model;
  return {
    ...identity(model),
    type: model.type,
    model_spec: {
      ...commonSpec(model),
      embeddingDimensions,
      maxInputTokens,
      supportsCustomDimensions,
      pricing: {
        input: price(pricing.input),
        ...(pricing.output !== undefined && { output: price(pricing.output) }),
      },
    },
  };
}

function imageModelView(model: CatalogImageModel): ImageModelView {
  const { steps, maxSide: _maxSide, maxImages: _maxImages, ...constraints } = model.constraints;
  const { generation, resolutions, quality } = model.pricing;
  return {
    ...identity(model),
    type: model.type,
    model_spec: {
      ...commonSpec(model),
      supportsStyleReferences: false,
      supportsWebSearch: false,
      supportsOptimizePromptThinking: false,
      supportsEnhancePrompt: model.promptModel !== undefined,
      constraints: { ...constraints, steps: steps ?? { default: 0, max: 0 } },
      pricing: priceTreeView({
        ...(generation !== undefined && { generation }),
        ...(resolutions && { resolutions }),
        ...(quality && { quality }),
      }),
    },
  };
}

function editModelView(model: CatalogEditModel): EditModelView {
  const { maxSide: _maxSide, maxImages: _maxImages, ...constraints } = model.constraints;
  const { inputImages, inpaint, resolutions, quality } = model.pricing;
  return {
    ...identity(model),
    type: model.type,
    model_spec: {
      ...commonSpec(model),
      supportsEnhancePrompt: model.promptModel !== undefined,
      constraints: { ...constraints, combineImages: constraints.maxInputImages > 1 },
      pricing: {
        ...priceTreeView({
          ...(inpaint !== undefined && { inpaint }),
          ...(resolutions && { resolutions }),
          ...(quality && { quality }),
        }),
        ...(inputImages && {
          inputImages: { included: inputImages.included, additional: price(inputImages.additional) },
        }),
      },
    },
  };
}

/** Its prices depend on the request: the quote states them. */
function videoModelView(model: CatalogVideoModel): VideoModelView {
  const { modelType, durations, resolutions, aspectRatios, audio, audioConfigurable, promptCharacterLimit } =
    model.constraints;
  const inputs = Object.entries(model.constraints.inputs).map(([field, { most }]) => [field, most] as const);
  return {
    ...identity(model),
    type: model.type,
    model_spec: {
      ...commonSpec(model),
      constraints: {
        model_type: modelType,
        aspect_ratios: aspectRatios,
        resolutions,
        durations,
        audio,
        audio_configurable: audioConfigurable,
        prompt_character_limit: promptCharacterLimit,
        inputs: Object.fromEntries(inputs),
      },
    },
  };
}

function musicModelView(model: CatalogMusicModel): MusicModelView {
  const { constraints } = model;
  return {
    ...identity(model),
    type: model.type,
    model_spec: {
      ...commonSpec(model),
      supports_lyrics: constraints.supportsLyrics,
      lyrics_required: constraints.lyricsRequired,
      supports_lyrics_optimizer: constraints.supportsLyricsOptimizer,
      supports_force_instrumental: constraints.supportsForceInstrumental,
      supports_loop: constraints.supportsLoop,
      supports_language_code: constraints.supportsLanguageCode,
      supports_speed: constraints.supportsSpeed,
      min_speed: constraints.minSpeed,
      max_speed: constraints.maxSpeed,
      voices: constraints.voices,
      duration_options: constraints.durationOptions,
      min_duration: constraints.minDuration,
      max_duration: constraints.maxDuration,
      default_duration: constraints.defaultDuration,
      min_prompt_length: constraints.minPromptLength,
      prompt_character_limit: constraints.promptCharacterLimit,
      lyrics_character_limit: constraints.lyricsCharacterLimit,
      pricing: musicPricing(model),
    },
  };
}

/** The published names of the prices are those of the public interface. */
function musicPricing({ pricing, constraints }: CatalogMusicModel): Record<string, unknown> {
  if ('generation' in pricing) return { generation: price(pricing.generation) };
  if ('perSecond' in pricing) return { per_second: price(pricing.perSecond) };
  if ('perThousandCharacters' in pricing)
    return { per_thousand_characters: price(pricing.perThousandCharacters) };
  const tiers = Object.entries(pricing.durations).toSorted(([a], [b]) => Number(a) - Number(b));
  const rows = tiers.map(([longest, usd], index) => {
    const shorter = tiers[index - 1]?.[0];
    const least = shorter === undefined ? constraints.minDuration : Number(shorter) + 1;
    return [longest, { ...price(usd), min_seconds: least, max_seconds: Number(longest) }];
  });
  return { durations: Object.fromEntries(rows) as Record<string, unknown> };
}

function speechModelView(model: CatalogSpeechModel): SpeechModelView {
  const { voices, defaultVoice, formats, defaultFormat, supportsCustomVoiceId, pricing } = model;
  const { voiceCloning: cloning } = model;
  return {
    ...identity(model),
    type: model.type,
    model_spec: {
      ...commonSpec(model),
      voices,
      default_voice: defaultVoice,
      supported_formats: formats,
      default_format: defaultFormat,
      supports_custom_voice_id: supportsCustomVoiceId,
      ...(cloning && {
        voice_cloning: {
          mode: 'zero_shot',
          accepted_formats: cloning.formats,
          min_sample_seconds: cloning.minSeconds,
          max_sample_seconds: cloning.maxSeconds,
          retention_days: VOICE_DAYS,
        },
      }),
      pricing: { input: price(pricing.input) },
    },
  };
}

function transcriptionModelView(model: CatalogTranscriptionModel): TranscriptionModelView {
  const { maxSeconds, pricing } = model;
  return {
    ...identity(model),
    type: model.type,
    model_spec: {
      ...commonSpec(model),
      maxSeconds,
      pricing: { per_audio_second: price(pricing.perAudioSecond) },
    },
  };
}

function upscaleModelView(model: CatalogUpscaleModel): UpscaleModelView {
  const { '2x': twice, '4x': further } = model.pricing.upscale;
  return {
    ...identity(model),
    type: model.type,
    model_spec: {
      ...commonSpec(model),
      pricing: { upscale: { '2x': price(twice), '4x': price(further) } },
    },
  };
}

function otherModelView(model: CatalogRerankModel | CatalogModerationModel): OtherModelView {
  return {
    ...identity(model),
    type: model.type,
    model_spec: { ...commonSpec(model), pricing: priceTreeView(model.pricing) },
  };
}

function identity({ id, createdAt }: CatalogEntry) {
  return { id, object: 'model' as const, created: Date.parse(createdAt) / 1_000, owned_by: 'svc' };
}

function commonSpec(model: CatalogEntry) {
  const { name, description, modelSource, privacy, betaModel, offline, traits } = model;
  const { uncensored, regionRestrictions, deprecation } = model;
  return {
    name,
    ...(description !== undefined && { description }),
    ...(modelSource !== undefined && { modelSource }),
    privacy,
    betaModel,
    offline,
    ...(uncensored && { uncensored }),
    ...(regionRestrictions.length > 0 && { regionRestrictions }),
    traits,
    ...(deprecation && { deprecation }),
  };
}

function constraintsView({ constraints }: CatalogModel): TextModelView['model_spec']['constraints'] {
  const { temperature, topP, frequencyPenalty, presencePenalty, repetitionPenalty } = constraints;
  return {
    temperature: { default: temperature },
    top_p: { default: topP },
    ...(frequencyPenalty !== undefined && { frequency_penalty: { default: frequencyPenalty } }),
    ...(presencePenalty !== undefined && { presence_penalty: { default: presencePenalty } }),
    ...(repetitionPenalty !== undefined && { repetition_penalty: { default: repetitionPenalty } }),
  };
}

type Prices = {
  input: number;
  output: number;
  cacheInput?: number | undefined;
  cacheWrite?: number | undefined;
  cacheWriteHour?: number | undefined;
};

function pricingView(model: CatalogModel): PricingView {
  const { pricing } = model;
  const { extended } = pricing;
  return {
    ...rates(pricing),
    ...(extended && {
      extended: { context_token_threshold: extended.contextTokenThreshold, ...rates(extended) },
    }),
    ...tiersView(model),
  };
}

/** The prices in each tier beside the default one. */
function tiersView({ serviceTiers, pricing }: CatalogModel): Pick<PricingView, 'service_tiers'> {
  if (!serviceTiers) return {};
  const tiers = SERVICE_TIERS.flatMap((name) => {
    const tier = serviceTiers[name];
    if (!tier) return [];
    const inTier = (usd: number): number => usdNumber(tieredNano(usdToNano(usd), tier));
    const { input, output, cacheInput, cacheWrite, cacheWriteHour } = pricing;
    const tiered = {
      input: inTier(input),
      output: inTier(output),
      cacheInput: cacheInput === undefined ? undefined : inTier(cacheInput),
      cacheWrite: cacheWrite === undefined ? undefined : inTier(cacheWrite),
      cacheWriteHour: cacheWriteHour === undefined ? undefined : inTier(cacheWriteHour),
    };
    return [[name, rates(tiered)] as const];
  });
  return { service_tiers: Object.fromEntries(tiers) };
}

/** A DIEM buys as much as a dollar. */
const price = (usd: number): { usd: number; diem: number } => ({ usd, diem: usd });

function rates({ input, output, cacheInput, cacheWrite, cacheWriteHour }: Prices) {
  return {
    input: price(input),
    output: price(output),
    ...(cacheInput !== undefined && { cache_input: price(cacheInput) }),
    ...(cacheWrite !== undefined && { cache_write: price(cacheWrite) }),
    ...(cacheWriteHour !== undefined && { cache_write_hour: price(cacheWriteHour) }),
  };
}

function priceTreeView(prices: PriceTree): Record<string, unknown> {
  const view = Object.entries(prices).map(([name, value]) => [
    name,
    typeof value === 'number' ? price(value) : priceTreeView(value),
  ]);
  return Object.fromEntries(view) as Record<string, unknown>;
}
