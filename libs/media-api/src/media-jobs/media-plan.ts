import type { Catalog } from '@svc/catalog';
import {
  type CatalogMusicModel,
  type CatalogVideoModel,
  VIDEO_INPUTS,
  type VideoInput,
  musicPrice,
  secondsOf,
  videoPrice,
} from '@svc/contracts/catalog';
import { type ChargeLine, chargeLine } from '@svc/contracts/messages';
import type { MediaOrder } from '@svc/contracts/ports';
import { MusicOrder, type MusicQuote, VideoOrder, type VideoQuote } from '@svc/api/media-jobs';
import { type Problem, invalidRequest } from '@svc/contracts/problems';
import { refuseUrls } from '@svc/paid/json';
import { findModel } from '@svc/paid/models';
import { type Buyer, type ModelSale, sellModel } from '@svc/paid/paid';

/** A further file that a video is made from. */
export interface InputFile {
  /** In the request. */
  readonly path: readonly [VideoInput, ...number[]];
  readonly url: string;
  readonly media: 'image' | 'video';
  /** Of the backend's form. */
  readonly part: string;
}

/** What a job costs and makes. */
export interface MediaPlan {
  readonly sale: ModelSale<CatalogVideoModel | CatalogMusicModel>;
  /** The charge: also what is quoted and held. */
  readonly line: ChargeLine;
  /** Without its files. */
  readonly order: MediaOrder;
  readonly imageUrl: string | undefined;
  readonly inputs: readonly InputFile[];
  readonly callbackUrl: string | undefined;
}

const fault = (field: string, message: string): Problem =>
  invalidRequest([{ code: 'custom', path: [field], message }]);

const listed = (values: readonly (string | number)[]): string => values.join(', ');

/** Fields of the public interface that no model server here supports. */
const UNSUPPORTED = [
  'audio_url',
  'bitrate_mode',
  'camera_trajectory',
  'elements',
  'keyframes',
  'omni_reference_task_type',
  'reference_audio_urls',
  'reference_document_urls',
  'scene_image_urls',
  'upscale_factor',
] as const;

/** Fields of model servers that decide what a job costs, or fetch something. */
const WRONG = new Set([
  'duration_s',
  'extra_body',
  'fps',
  'frames',
  'height',
  'image',
  'image_reference',
  'input_reference',
  'n',
  'num_frames',
  'num_outputs_per_prompt',
  'prompts',
  'reference_url',
  'seconds',
  'size',
  'user',
  'video',
  'width',
]);

const FIELD_NAME = /^[A-Za-z_][\w.-]{0,63}$/;
const FIELDS_AT_MOST = 32;
const FIELD_CHARACTERS = 4_096;

const isGiven = ([, value]: readonly [string, unknown]): boolean => value !== undefined && value !== null;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The fields that the schema of a request does not have, as text. A backend gets those that it may. */
function othersOf(request: object, shape: object): Record<string, string> {
  const others: Record<string, string> = {};
  const rest = Object.entries(request).filter((field) => !Object.hasOwn(shape, field[0]) && isGiven(field));
  if (rest.length > FIELDS_AT_MOST)
    throw fault(rest[FIELDS_AT_MOST]?.[0] ?? '', `At most ${FIELDS_AT_MOST} further fields are allowed.`);
  for (const [name, value] of rest) {
    if (WRONG.has(name.toLowerCase()) || !FIELD_NAME.test(name))
      throw fault(name, 'This field is not accepted here.');
    const text = textOf(value);
    if (text.length > FIELD_CHARACTERS)
      throw fault(name, `Must have at most ${FIELD_CHARACTERS} characters.`);
    others[name] = text;
  }
  refuseUrls(rest);
  return others;
}

type VideoOptions = Pick<VideoQuote, 'duration' | 'aspect_ratio' | 'resolution' | 'audio'>;

interface VideoShape {
  readonly seconds: number;
  readonly resolution: string | undefined;
  readonly aspectRatio: string | undefined;
  readonly hasAudio: boolean;
}

function oneOf(field: string, value: string, values: readonly string[]): string {
  if (values.includes(value)) return value;
  throw fault(
    field,
    values.length > 0 ? `Must be one of ${listed(values)}.` : 'The model does not support it.',
  );
}

/** With `isQuote`, fields that the model does not have are ignored. */
function videoShape({ constraints }: CatalogVideoModel, options: VideoOptions, isQuote: boolean): VideoShape {
  const { durations, resolutions, aspectRatios, audio, audioConfigurable } = constraints;
  const { duration, resolution, aspect_ratio: ratio, audio: sound } = options;
  const isIgnored = (values: readonly string[]): boolean => isQuote && values.length === 0;
  const chosen = (field: string, value: string | undefined, values: readonly string[]): string | undefined =>
    value === undefined || isIgnored(values) ? undefined : oneOf(field, value, values);
  const aspectRatio = chosen('aspect_ratio', ratio, aspectRatios);
  if (aspectRatio === undefined && aspectRatios.length > 0 && !isQuote)
    throw fault('aspect_ratio', `is required and must be one of ${listed(aspectRatios)}`);
  if (sound !== undefined && !audioConfigurable && !isQuote && sound !== audio)
    throw fault('audio', 'The model does not let requests choose it.');
  return {
    seconds: secondsOf(oneOf('duration', duration, durations)),
    resolution: chosen('resolution', resolution, resolutions) ?? resolutions[0],
    aspectRatio,
    hasAudio: audioConfigurable ? (sound ?? true) : audio,
  };
}

/** Diffusion models need sides of this multiple. */
const SIDE_PIXELS = 16;

/** The shorter side is that of the resolution. */
function sizeOf({ resolution, aspectRatio }: VideoShape): { width: number; height: number } | undefined {
  if (resolution === undefined) return undefined;
  const [across = 16, down = 9] = (aspectRatio ?? '16:9').split(':').map(Number);
  const shorter = Number(resolution.slice(0, -1));
  const side = (pixels: number): number => Math.max(1, Math.round(pixels / SIDE_PIXELS)) * SIDE_PIXELS;
  const unit = shorter / Math.min(across, down);
  return { width: side(unit * across), height: side(unit * down) };
}

const videoLine = (model: CatalogVideoModel, shape: VideoShape): ChargeLine => {
  const { price, units } = videoPrice(model, shape);
  return chargeLine(price, units);
};

/** What the model is to make the video from. No price depends on it. */
function inputsOf(request: VideoQuote | VideoOrder, { constraints }: CatalogVideoModel): InputFile[] {
  const has = (field: string): boolean => (request[field] ?? undefined) !== undefined;
  const unsupported = UNSUPPORTED.find(has);
  if (unsupported !== undefined) throw fault(unsupported, 'The model does not support it.');
  const fields = Object.keys(VIDEO_INPUTS) as VideoInput[];
  return fields.filter(has).flatMap((field): InputFile[] => {
    const taken = constraints.inputs[field];
    if (!taken) throw fault(field, 'The model does not support it.');
    const { part, most } = taken;
    const file = { media: VIDEO_INPUTS[field], part };
    const given = request[field];
    if (!Array.isArray(given)) return [{ ...file, path: [field], url: String(given) }];
    if (given.length > most) throw fault(field, `Must have at most ${most}.`);
    return given.map((url: string, at) => ({ ...file, path: [field, at], url }));
  });
}

/** What a video would cost. Refuses: INVALID_REQUEST and the refusals of `findModel`. */
export function quoteVideo(request: VideoQuote, catalog: Catalog): ChargeLine {
  const { model } = findModel(request.model, catalog.ofType('video'));
  inputsOf(request, model);
  const total = 'reference_video_total_duration';
  if ((request[total] ?? undefined) !== undefined && !model.constraints.inputs.reference_video_urls)
    throw fault(total, 'The model does not support it.');
  return videoLine(model, videoShape(model, request, true));
}

/** Plans a job. Refuses: INVALID_REQUEST and the refusals of `sellModel`. */
export function planVideo(request: VideoOrder, buyer: Buyer): MediaPlan {
  const sale = sellModel(request.model, buyer.catalog.ofType('video'), buyer);
  const { model } = sale;
  const { promptCharacterLimit: most, modelType } = model.constraints;
  const inputs = inputsOf(request, model);
  for (const field of ['prompt', 'negative_prompt'] as const)
    if ([...(request[field] ?? '')].length > most)
      throw fault(field, `Must have at most ${most} characters.`);
  const imageUrl = request.image_url;
  if (imageUrl === undefined && modelType === 'image-to-video')
    throw fault('image_url', 'Required by this model.');
  if (imageUrl !== undefined && modelType === 'text-to-video')
    throw fault('image_url', 'The model does not support it.');
  const shape = videoShape(model, request, false);
  const { negative_prompt: negative } = request;
  return {
    sale,
    line: videoLine(model, shape),
    imageUrl,
    inputs,
    callbackUrl: request.callback_url,
    order: {
      prompt: request.prompt,
      seconds: shape.seconds,
      ...sizeOf(shape),
      fields: {
        ...(negative !== undefined && { negative_prompt: negative }),
        ...(model.constraints.audioConfigurable && { audio: String(shape.hasAudio) }),
      },
      others: othersOf(request, { ...VideoOrder.shape, consents: true }),
    },
  };
}

type MusicOptions = Pick<MusicQuote, 'duration_seconds'>;

function trackSeconds({ constraints }: CatalogMusicModel, options: MusicOptions): number {
  const { durationOptions, minDuration, maxDuration, defaultDuration } = constraints;
  const seconds = options.duration_seconds ?? defaultDuration;
  if (durationOptions.length > 0 && !durationOptions.includes(seconds))
    throw fault('duration_seconds', `Must be one of ${listed(durationOptions)}.`);
  if (seconds < minDuration || seconds > maxDuration)
    throw fault('duration_seconds', `Must be between ${minDuration} and ${maxDuration}.`);
  return seconds;
}

/** What a track would cost. Refuses: INVALID_REQUEST and the refusals of `findModel`. */
export function quoteMusic(request: MusicQuote, catalog: Catalog): ChargeLine {
  const { model } = findModel(request.model, catalog.ofType('music'));
  if ('perThousandCharacters' in model.pricing && request.character_count === undefined)
    throw fault('character_count', 'Required, because the model is priced by characters.');
  const characters = request.character_count ?? 0;
  const { price, units } = musicPrice(model, { seconds: trackSeconds(model, request), characters });
  return chargeLine(price, units);
}

/** The options of music models, each with what the model must have. */
const MUSIC_OPTIONS = [
  ['lyrics_prompt', 'supportsLyrics'],
  ['lyrics_optimizer', 'supportsLyricsOptimizer'],
  ['force_instrumental', 'supportsForceInstrumental'],
  ['loop', 'supportsLoop'],
  ['language_code', 'supportsLanguageCode'],
  ['speed', 'supportsSpeed'],
] as const satisfies readonly (readonly [keyof MusicOrder, keyof CatalogMusicModel['constraints']])[];

/** Plans a job. Refuses: INVALID_REQUEST and the refusals of `sellModel`. */
export function planMusic(request: MusicOrder, buyer: Buyer): MediaPlan {
  const sale = sellModel(request.model, buyer.catalog.ofType('music'), buyer);
  const { model } = sale;
  refuseOptions(request, model);
  const characters = [...request.prompt, ...(request.lyrics_prompt ?? '')].length;
  const seconds = trackSeconds(model, request);
  const { price, units } = musicPrice(model, { seconds, characters });
  return {
    sale,
    line: chargeLine(price, units),
    imageUrl: undefined,
    inputs: [],
    callbackUrl: request.callback_url,
    order: {
      prompt: request.prompt,
      seconds,
      fields: Object.fromEntries(
        [...MUSIC_OPTIONS.map(([field]) => field), 'voice' as const]
          .map((field) => [field, request[field]] as const)
          .filter(isGiven)
          .map(([field, value]) => [field, textOf(value)]),
      ),
      others: othersOf(request, MusicOrder.shape),
    },
  };
}

function refuseOptions(request: MusicOrder, { constraints }: CatalogMusicModel): void {
  for (const [field, flag] of MUSIC_OPTIONS)
    if (request[field] !== undefined && !constraints[flag])
      throw fault(field, 'The model does not support it.');
  const { minPromptLength, promptCharacterLimit, lyricsCharacterLimit, voices, minSpeed, maxSpeed } =
    constraints;
  const length = [...request.prompt].length;
  if (length < minPromptLength || length > promptCharacterLimit)
    throw fault('prompt', `Must have between ${minPromptLength} and ${promptCharacterLimit} characters.`);
  const { lyrics_prompt: lyrics, voice, speed } = request;
  if (lyrics === undefined && constraints.lyricsRequired)
    throw fault('lyrics_prompt', 'Required by this model.');
  if ([...(lyrics ?? '')].length > lyricsCharacterLimit)
    throw fault('lyrics_prompt', `Must have at most ${lyricsCharacterLimit} characters.`);
  if (voice !== undefined) oneOf('voice', voice, voices);
  if (speed !== undefined && (speed < minSpeed || speed > maxSpeed))
    throw fault('speed', `Must be between ${minSpeed} and ${maxSpeed}.`);
}
