import { Injectable } from '@nestjs/common';
import { GuardedFetcher } from '@svc/guarded-fetch';
import { GatewaySettings } from '../gateway.config.js';

/** The size limit of an attachment: an image or file decoded (25 MB, the contract's limit), or a video. */
export const ATTACHMENT_LIMIT_BYTES = 25_000_000;

/** Timeout for fetching one image, video or file. */
const FETCH_MS = 20_000;

/** The bytes of an attachment and the media type that its source declares. */
export interface Source {
  readonly bytes: Buffer;
  readonly mediaType: string;
}

/** The URL of an attachment has no usable content. */
export class BadSource extends Error {
  override readonly name = 'BadSource';
}

/** Fetches attachments given by URL, if the settings allow it. */
@Injectable()
export class AttachmentFetcher {
  constructor(
    private readonly fetcher: GuardedFetcher,
    private readonly settings: GatewaySettings,
  ) {}

  /** Throws FetchRefused and BadSource. */
  async fetch(url: string, signal: AbortSignal): Promise<Source> {
    if (this.settings.config.GATEWAY_ATTACHMENT_URLS === 'off')
      throw new BadSource('it must be a data URL, because this deployment does not fetch URLs');
    const limits = { limitBytes: ATTACHMENT_LIMIT_BYTES, timeoutMs: FETCH_MS, signal };
    const { bytes, contentType } = await this.fetcher.fetch(url, limits);
    return { bytes, mediaType: (contentType.split(';')[0] ?? '').trim().toLowerCase() };
  }
}
