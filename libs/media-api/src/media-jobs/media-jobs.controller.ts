import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { Body, Controller, Req, Res } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import type { Caller, MediaKind } from '@svc/contracts/ports';
import type { ChargeLine } from '@svc/contracts/messages';
import type {
  MediaComplete,
  MediaProgress,
  MediaRetrieve,
  MusicOrder,
  MusicOrderReply,
  MusicQuote,
  VideoOrder,
  VideoOrderReply,
  VideoQuote,
} from '@svc/api/media-jobs';
import { routes } from '@svc/api';
import { usdNumber } from '@svc/contracts/money';
import { Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MediaOrders } from './media-orders.js';
import { planMusic, planVideo, quoteMusic, quoteVideo } from './media-plan.js';
import { MediaResults } from './media-results.js';

/** Videos and music, which jobs make. */
@Controller()
export class MediaJobsController {
  constructor(
    private readonly orders: MediaOrders,
    private readonly results: MediaResults,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.quoteVideo)
  quoteVideo(@Body() body: VideoQuote): { quote: number } {
    return quoted(quoteVideo(body, this.catalog));
  }

  @Serves(routes.queueVideo)
  async queueVideo(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: VideoOrder,
  ): Promise<VideoOrderReply> {
    const caller = callerOf(request);
    const plan = planVideo(body, { caller, catalog: this.catalog });
    const id = await this.orders.place('video', plan, { request, reply, caller });
    return { model: plan.sale.name, queue_id: id, ...(await this.download(id)) };
  }

  @Serves(routes.retrieveVideo)
  retrieveVideo(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: MediaRetrieve,
  ): Promise<MediaProgress | Readable> {
    return this.results.retrieve(body, callOf('video', request, reply));
  }

  @Serves(routes.completeVideo)
  async completeVideo(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: MediaComplete,
  ): Promise<{ success: boolean }> {
    await this.results.complete(body, callOf('video', request, reply));
    return { success: true };
  }

  @Serves(routes.quoteMusic)
  quoteMusic(@Body() body: MusicQuote): { quote: number } {
    return quoted(quoteMusic(body, this.catalog));
  }

  @Serves(routes.queueMusic)
  async queueMusic(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: MusicOrder,
  ): Promise<MusicOrderReply> {
    const caller = callerOf(request);
    const plan = planMusic(body, { caller, catalog: this.catalog });
    const id = await this.orders.place('music', plan, { request, reply, caller });
    return { model: plan.sale.name, queue_id: id, status: 'QUEUED', ...(await this.download(id)) };
  }

  @Serves(routes.retrieveMusic)
  retrieveMusic(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: MediaRetrieve,
  ): Promise<MediaProgress | Readable> {
    return this.results.retrieve(body, callOf('music', request, reply));
  }

  @Serves(routes.completeMusic)
  async completeMusic(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: MediaComplete,
  ): Promise<{ success: boolean }> {
    await this.results.complete(body, callOf('music', request, reply));
    return { success: true };
  }

  private async download(id: string): Promise<{ download_url?: string }> {
    const url = await this.orders.downloadUrl(id);
    return url === undefined ? {} : { download_url: url };
  }
}

const quoted = ({ amountNano }: ChargeLine): { quote: number } => ({ quote: usdNumber(amountNano) });

function callerOf({ caller }: FastifyRequest): Caller {
  assert(caller, 'the route requires a key or a wallet');
  return caller;
}

function callOf(
  kind: MediaKind,
  request: FastifyRequest,
  reply: FastifyReply,
): { kind: MediaKind; request: FastifyRequest; reply: FastifyReply; caller: Caller } {
  return { kind, request, reply, caller: callerOf(request) };
}
