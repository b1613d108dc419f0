import { Injectable } from '@nestjs/common';
import { GuardedFetcher } from '@svc/guarded-fetch';
import { GatewaySettings } from '../gateway.config.js';

/** The most bytes of an image or a file, decoded (25 MB, the contract's limit), and of a video. */
export const ATTACHMENT_LIMIT_BYTES = 25_000_000;

/** One image, video or file may take this long to fetch. */
const FETCH_MS = 20_000;

/** What an attachment is, as its sender says, and its bytes. */
export interface Source {
  readonly bytes: Buffer;
  readonly mediaType: string;
}

/** An attachment whose URL holds nothing usable. */
export class BadSource extends Error {
  override readonly name = 'BadSource';
}

/** Fetches what requests name by URL, where that is wanted. */
@Injectable()
export class AttachmentFetcher {
  constructor(
    private readonly fetcher: GuardedFetcher,
    private readonly settings: GatewaySettings,
  ) {}

  /** Throws FetchRefused and BadSource. */
  async fetch(url: string, signal: AbortSignal): Promise<Source> {
    if (this.settings.config.GATEWAY_ATTACHMENT_URLS === 'off')
      throw new BadSource('nothing is fetched here, so it has to be a data URL');
    const limits = { limitBytes: ATTACHMENT_LIMIT_BYTES, timeoutMs: FETCH_MS, signal };
    const { bytes, contentType } = await this.fetcher.fetch(url, limits);
    return { bytes, mediaType: (contentType.split(';')[0] ?? '').trim().toLowerCase() };
  }
}
