import { Injectable } from '@nestjs/common';
import { type ContentPart, ExtractionFailed, ImageRejected, Problem, Retrieval } from '@svc/contracts';
import { FetchRefused, GuardedFetcher } from '@svc/guarded-fetch';
import { dataUrl, parseDataUrl } from './data-url.js';

/** The most bytes of an image or a file, decoded (25 MB, the contract's limit), and of a video. */
const ATTACHMENT_LIMIT_BYTES = 25_000_000;

/** One image, video or file may take this long to fetch. */
const FETCH_MS = 20_000;

/** The least width and height of an image, in pixels. */
const LEAST_PIXELS = 64;

interface Source {
  readonly bytes: Buffer;
  readonly mediaType: string;
}

type Part<Type extends ContentPart['type']> = Extract<ContentPart, { type: Type }>;

/** Makes the parts of a message ready for a model: files become text, and nothing is left for a backend to fetch. */
@Injectable()
export class Attachments {
  constructor(
    private readonly retrieval: Retrieval,
    private readonly fetcher: GuardedFetcher,
  ) {}

  /** A part as the backend gets it. Refuses: INVALID_REQUEST on an image or a video that is none. */
  async ready(part: ContentPart, signal: AbortSignal): Promise<ContentPart> {
    switch (part.type) {
      case 'text':
      case 'input_audio':
        return part;
      case 'image_url':
        return this.image(part, signal);
      case 'video_url':
        return this.video(part, signal);
      case 'file':
        return this.file(part, signal);
    }
  }

  private async image(part: Part<'image_url'>, signal: AbortSignal): Promise<ContentPart> {
    const refuse = (cause: unknown): Problem =>
      new Problem('INVALID_REQUEST', {
        message: 'Supplied image did not pass validation checks.',
        param: 'messages',
        cause,
      });
    try {
      const { bytes } = await this.source(part.image_url.url, signal);
      const { width, height, format } = await this.retrieval.inspectImage(bytes, signal);
      if (width < LEAST_PIXELS || height < LEAST_PIXELS) throw refuse(new Error(`${width}×${height} pixels`));
      return { ...part, image_url: { ...part.image_url, url: dataUrl(`image/${format}`, bytes) } };
    } catch (error) {
      if (error instanceof ImageRejected && error.retryable)
        throw new Problem('UNAVAILABLE', { cause: error });
      if (error instanceof ImageRejected || error instanceof FetchRefused || error instanceof BadSource)
        throw refuse(error);
      throw error;
    }
  }

  private async video(part: Part<'video_url'>, signal: AbortSignal): Promise<ContentPart> {
    const refuse = (cause: unknown): Problem =>
      new Problem('INVALID_REQUEST', {
        message: 'Supplied video did not pass validation checks.',
        param: 'messages',
        cause,
      });
    try {
      const { bytes } = await this.source(part.video_url.url, signal);
      const mediaType = videoType(bytes);
      if (!mediaType) throw refuse(new Error('not in a format that is taken'));
      return { ...part, video_url: { ...part.video_url, url: dataUrl(mediaType, bytes) } };
    } catch (error) {
      if (error instanceof FetchRefused || error instanceof BadSource) throw refuse(error);
      throw error;
    }
  }

  /** A file that can't be read says so in its place, and the request goes on. */
  private async file(part: Part<'file'>, signal: AbortSignal): Promise<ContentPart> {
    const { file_data: data, filename } = part.file;
    const name = filename ?? nameFrom(data);
    const rest = part.cache_control && { cache_control: part.cache_control };
    try {
      const { bytes, mediaType } = await this.source(data, signal);
      if (mediaType.startsWith('image/')) {
        return await this.image(
          { type: 'image_url', image_url: { url: dataUrl(mediaType, bytes) }, ...rest },
          signal,
        );
      }
      const named = filename === undefined && /^data:/i.test(data) ? {} : { name };
      const { text } = await this.retrieval.extractText({ ...named, mediaType, bytes }, signal);
      return { type: 'text', text: `[File ${name}]\n${text}\n[End of file ${name}]`, ...rest };
    } catch (error) {
      if (error instanceof ExtractionFailed || error instanceof FetchRefused || error instanceof BadSource) {
        const why = error instanceof ExtractionFailed ? error.reason : error.message;
        return { type: 'text', text: `[Error processing file ${name}: ${why}]`, ...rest };
      }
      throw error;
    }
  }

  /** The bytes of a data URL or a public URL. */
  private async source(url: string, signal: AbortSignal): Promise<Source> {
    if (!/^data:/i.test(url)) {
      const limits = { limitBytes: ATTACHMENT_LIMIT_BYTES, timeoutMs: FETCH_MS, signal };
      const { bytes, contentType } = await this.fetcher.fetch(url, limits);
      return { bytes, mediaType: (contentType.split(';')[0] ?? '').trim().toLowerCase() };
    }
    const parsed = parseDataUrl(url);
    if (!parsed) throw new BadSource('the data URL is not valid');
    if (parsed.bytes.length > ATTACHMENT_LIMIT_BYTES) throw new BadSource('it is larger than 25 MB');
    return parsed;
  }
}

/** An attachment whose URL holds nothing usable. */
class BadSource extends Error {
  override readonly name = 'BadSource';
}

function nameFrom(url: string): string {
  if (/^data:/i.test(url)) return 'file';
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
