import { Injectable } from '@nestjs/common';
import type { ContentPart } from '@svc/api/chat';
import { ExtractionFailed } from '@svc/contracts/ports';
import { type Issue, Problem, invalidRequest } from '@svc/contracts/problems';
import { FetchRefused } from '@svc/guarded-fetch';
import {
  type DataUrlHead,
  type ImageCopy,
  ImageRejected,
  Images,
  type ReadImage,
  base64Bytes,
  dataUrl,
  dataUrlBytes,
  dataUrlHead,
  imageFormat,
} from '@svc/media';
import { ATTACHMENT_LIMIT_BYTES, AttachmentFetcher, BadSource, type Source } from './attachment-fetcher.js';
import { FileTexts } from './file-texts.js';

/** Minimum width and height of an image, in pixels. */
const LEAST_PIXELS = 64;

type Part<Type extends ContentPart['type']> = Extract<ContentPart, { type: Type }>;

/** The position of an attachment, and whose request it belongs to. */
export interface AttachmentContext {
  /** Path of the part in the request. */
  readonly path: Issue['path'];
  readonly accountId: string;
  /** Whether the model accepts images. */
  readonly takesImages: boolean;
  readonly signal: AbortSignal;
}

type ImageContext = Pick<AttachmentContext, 'path' | 'accountId' | 'signal'>;
type JobCaller = Parameters<Images['read']>[1];

/**
 * Prepares the parts of a message for a model: files become fenced text, and nothing is left for a backend to
 * fetch. Images and videos are checked in this process.
 */
@Injectable()
export class Attachments {
  constructor(
    private readonly files: FileTexts,
    private readonly images: Images,
    private readonly fetcher: AttachmentFetcher,
  ) {}

  /**
   * The part to send to the backend; the same object if nothing changes. Refuses: INVALID_REQUEST for an
   * image, video or audio that is not valid, UNAVAILABLE while too many others are being read.
   */
  async ready(part: ContentPart, context: AttachmentContext): Promise<ContentPart> {
    switch (part.type) {
      case 'text':
        return part;
      case 'input_audio':
        return this.audio(part, context);
      case 'image_url':
        return this.image(part, context);
      case 'video_url':
        return this.video(part, context);
      case 'file':
        return this.file(part, context);
    }
  }

  private async image(
    part: Part<'image_url'>,
    context: AttachmentContext,
    bytes?: Buffer,
  ): Promise<ContentPart> {
    const path = [...context.path, 'image_url', 'url'];
    const { url } = await this.decoded(bytes ?? part.image_url.url, { ...context, path });
    return url === undefined ? part : { ...part, image_url: { ...part.image_url, url } };
  }

  /**
   * Decodes an image: its bytes, a data URL or a public URL. Refuses: INVALID_REQUEST for the path,
   * UNAVAILABLE.
   */
  decoded(given: string | Uint8Array, context: ImageContext): Promise<ReadImage> {
    return this.checked(given, context, (source, caller) => this.images.read(source, caller));
  }

  /** The same, and makes a file that has only the pixels of the image. */
  copy(given: string | Uint8Array, context: ImageContext): Promise<ImageCopy> {
    return this.checked(given, context, (source, caller) => this.images.copy(source, caller));
  }

  private async checked<Read extends ImageCopy | ReadImage>(
    given: string | Uint8Array,
    context: ImageContext,
    readImage: (source: string | Uint8Array, caller: JobCaller) => Promise<Read>,
  ): Promise<Read> {
    const refuse = (why: string): Problem =>
      refusal(context.path, `Supplied image did not pass validation checks. ${why}`);
    try {
      const isFetched = typeof given === 'string' && !isDataUrl(given);
      const source = isFetched ? (await this.fetcher.fetch(given, context.signal)).bytes : given;
      const read = await readImage(source, { account: context.accountId, signal: context.signal });
      const { width, height } = read;
      if (width < LEAST_PIXELS || height < LEAST_PIXELS)
        throw refuse(
          `It has ${width}×${height} pixels; it must have at least ${LEAST_PIXELS}×${LEAST_PIXELS}.`,
        );
      return read;
    } catch (error) {
      if (error instanceof ImageRejected && error.retryable) throw tooBusy(error);
      if (error instanceof ImageRejected) throw refuse(sentence(error.reason));
      if (error instanceof FetchRefused || error instanceof BadSource) throw refuse(sentence(error.message));
      throw error;
    }
  }

  /** Checks only the first bytes of a video, and that its base64 is valid. */
  private async video(part: Part<'video_url'>, context: AttachmentContext): Promise<ContentPart> {
    const { url } = part.video_url;
    const refuse = (why: string): Problem =>
      refusal([...context.path, 'video_url', 'url'], `Supplied video did not pass validation checks. ${why}`);
    try {
      const head = dataUrlHead(url);
      const { bytes, isPlain } = head
        ? await decoded(url, head)
        : { ...(await this.fetcher.fetch(url, context.signal)), isPlain: false };
      const mediaType = videoType(bytes);
      if (!mediaType) throw refuse('It must be MP4, MPEG, QuickTime or WebM.');
      if (isPlain && url.startsWith(`data:${mediaType};base64,`)) return part;
      return { ...part, video_url: { ...part.video_url, url: await dataUrl(mediaType, bytes) } };
    } catch (error) {
      if (error instanceof FetchRefused || error instanceof BadSource) throw refuse(sentence(error.message));
      throw error;
    }
  }

  private async audio(part: Part<'input_audio'>, context: AttachmentContext): Promise<ContentPart> {
    const { data, format } = part.input_audio;
    if (!(await base64Bytes(data))?.isPlain)
      throw refusal([...context.path, 'input_audio', 'data'], 'Invalid base64-encoded string');
    return format ? part : { ...part, input_audio: { ...part.input_audio, format: 'wav' } };
  }

  /** A file that cannot be read is replaced by an error text, and the request continues. */
  private async file(part: Part<'file'>, context: AttachmentContext): Promise<ContentPart> {
    const { file_data: data, filename } = part.file;
    const name = filename?.trim() || nameFrom(data);
    const rest = part.cache_control && { cache_control: part.cache_control };
    const unread = (why: string): ContentPart => ({
      type: 'text',
      text: this.files.unread(name, why),
      ...rest,
    });
    try {
      const { bytes, mediaType } = await this.source(data, context);
      if (isImage(bytes, mediaType)) {
        if (!context.takesImages) return unread('this model does not accept images');
        return await this.image({ type: 'image_url', image_url: { url: data }, ...rest }, context, bytes);
      }
      const named = filename === undefined && isDataUrl(data) ? {} : { name };
      const file = { ...named, mediaType, bytes, accountId: context.accountId };
      return { type: 'text', text: await this.files.read(file, name, context.signal), ...rest };
    } catch (error) {
      if (error instanceof ExtractionFailed && error.retryable) throw tooBusy(error);
      if (error instanceof ExtractionFailed) return unread(error.reason);
      if (error instanceof FetchRefused || error instanceof BadSource) return unread(error.message);
      throw error;
    }
  }

  /** The bytes of a data URL or a public URL. */
  private async source(url: string, context: AttachmentContext): Promise<Source> {
    const head = dataUrlHead(url);
    if (!head) return this.fetcher.fetch(url, context.signal);
    return { ...(await decoded(url, head)), mediaType: head.mediaType };
  }
}

async function decoded(url: string, head: DataUrlHead): Promise<{ bytes: Buffer; isPlain: boolean }> {
  const found = await dataUrlBytes(url, head);
  if (!found) throw new BadSource('the data URL is invalid');
  if (found.bytes.length > ATTACHMENT_LIMIT_BYTES) throw new BadSource('it is larger than 25 MB');
  return found;
}

const isDataUrl = (url: string): boolean => /^data:/i.test(url);

/** SVG counts as text. */
function isImage(bytes: Buffer, mediaType: string): boolean {
  return (
    imageFormat(bytes) !== undefined || (mediaType.startsWith('image/') && mediaType !== 'image/svg+xml')
  );
}

const refusal = (path: Issue['path'], message: string): Problem =>
  invalidRequest([{ code: 'custom', path, message }]);

function tooBusy(cause: ExtractionFailed | ImageRejected): Problem {
  return new Problem('UNAVAILABLE', { message: `${sentence(cause.reason)} Please try again.`, cause });
}

/** A clause as a sentence: capitalized and ending with a full stop. */
function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1).replace(/\.$/, '')}.`;
}

function nameFrom(url: string): string {
  if (isDataUrl(url)) return 'file';
  return URL.canParse(url)
    ? decodeURIComponentSafely(new URL(url).pathname.split('/').at(-1) ?? '') || 'file'
    : 'file';
}

function decodeURIComponentSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The media type of a video by its first bytes: MP4, QuickTime, WebM or MPEG. */
function videoType(bytes: Buffer): string | undefined {
  const brand = bytes.toString('latin1', 4, 12);
  if (brand.startsWith('ftyp')) return brand.startsWith('ftypqt') ? 'video/quicktime' : 'video/mp4';
  if (/^(moov|mdat|wide|free)/.test(brand)) return 'video/quicktime';
  const first = bytes.length >= 4 ? bytes.readUInt32BE(0) : 0;
  if (first === 0x1a45dfa3) return 'video/webm';
  // A program stream, an elementary stream, or a transport stream with its sync byte every 188 bytes.
  if (first === 0x000001ba || first === 0x000001b3) return 'video/mpeg';
  return bytes[0] === 0x47 && bytes[188] === 0x47 ? 'video/mpeg' : undefined;
}
