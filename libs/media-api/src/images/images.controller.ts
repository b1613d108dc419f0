import assert from 'node:assert/strict';
import { Body, Controller, Req, Res } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import type {
  ImageCutoutRequest,
  ImageEditRequest,
  ImageEditsRequest,
  ImageGenerationReply,
  ImageGenerationRequest,
  ImageMultiEditRequest,
  ImageReply,
  ImageRequest,
  ImageStyleList,
  ImageUpscaleRequest,
} from '@svc/api/images';
import { routes } from '@svc/api';
import { type Outgoing, Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HttpPair } from '@svc/paid/paid';
import { type ChangePlan, planCutout, planUpscale } from './change-plan.js';
import { EditImages } from './edit-images.js';
import { type EditPlan, planEdit, planEdits, planMultiEdit } from './edit-plan.js';
import { type ImageOffer, planGeneration, planImage } from './image-plan.js';
import { base64Of, generationReply } from './image-replies.js';
import { ImageSales, type Sold } from './image-sales.js';
import { STYLE_NAMES } from './styles.js';

@Controller()
export class ImagesController {
  constructor(
    private readonly sales: ImageSales,
    private readonly sources: EditImages,
    private readonly catalog: Catalog,
  ) {}

  @Serves(routes.generateImage)
  async generate(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: ImageRequest,
  ): Promise<ImageReply | Uint8Array> {
    assert(request.caller, 'the route requires a key or a wallet');
    const plan = planImage(body, request.caller, this.catalog);
    const { files, cost, inferenceMs } = await this.sales.sell(plan, { request, reply }, () =>
      Promise.resolve({ work: { kind: 'image', order: plan.order } }),
    );
    if (body.return_binary === true) return fileReply({ files }, plan, reply);
    const totalMs = performance.now() - request.record.startedMs;
    return {
      id: request.id,
      images: files.map(({ bytes }) => base64Of(bytes)),
      timing: {
        inferenceDuration: Math.round(inferenceMs),
        inferencePreprocessingTime: Math.round(totalMs - inferenceMs),
        inferenceQueueTime: 0,
        total: Math.round(totalMs),
      },
      cost,
    };
  }

  @Serves(routes.generateImages)
  async generations(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: ImageGenerationRequest,
  ): Promise<ImageGenerationReply> {
    assert(request.caller, 'the route requires a key or a wallet');
    const plan = planGeneration(body, request.caller, this.catalog);
    const { files, cost } = await this.sales.sell(plan, { request, reply }, () =>
      Promise.resolve({ work: { kind: 'image', order: plan.order } }),
    );
    return generationReply({ files, cost, format: plan.output.format }, body.response_format === 'url');
  }

  @Serves(routes.editImages)
  async edits(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: ImageEditsRequest,
  ): Promise<ImageGenerationReply> {
    assert(request.caller, 'the route requires a key or a wallet');
    const plan = planEdits(body, request.caller, this.catalog);
    const { files, cost } = await this.sellEdit(plan, { request, reply });
    return generationReply({ files, cost, format: plan.output.format }, body.response_format === 'url');
  }

  @Serves(routes.editImage)
  async edit(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: ImageEditRequest,
  ): Promise<Uint8Array> {
    assert(request.caller, 'the route requires a key or a wallet');
    const plan = planEdit(body, request.caller, this.catalog);
    return fileReply(await this.sellEdit(plan, { request, reply }), plan, reply);
  }

  @Serves(routes.multiEditImage)
  async multiEdit(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: ImageMultiEditRequest,
  ): Promise<Uint8Array> {
    assert(request.caller, 'the route requires a key or a wallet');
    const plan = planMultiEdit(body, request.caller, this.catalog);
    return fileReply(await this.sellEdit(plan, { request, reply }), plan, reply);
  }

  @Serves(routes.upscaleImage)
  async upscale(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: ImageUpscaleRequest,
  ): Promise<Uint8Array> {
    assert(request.caller, 'the route requires a key or a wallet');
    return this.change(planUpscale(body, request.caller, this.catalog), { request, reply });
  }

  @Serves(routes.removeBackground)
  async removeBackground(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: ImageCutoutRequest,
  ): Promise<Uint8Array> {
    assert(request.caller, 'the route requires a key or a wallet');
    return this.change(planCutout(body, request.caller, this.catalog), { request, reply });
  }

  @Serves(routes.imageStyles)
  styles(): ImageStyleList {
    return { object: 'list', data: [...STYLE_NAMES] };
  }

  private async change(plan: ChangePlan, pair: HttpPair): Promise<Uint8Array> {
    const sold = await this.sales.sell(plan, pair, async (accountId, signal) => {
      const context = { path: [plan.field], accountId, signal };
      return plan.orderFor(await this.sources.read(plan.image, context));
    });
    return fileReply(sold, plan, pair.reply);
  }

  private sellEdit(plan: EditPlan, pair: HttpPair): Promise<Sold> {
    return this.sales.sell(plan, pair, (accountId, signal) =>
      this.sources.ready(plan, { accountId, signal }),
    );
  }
}

/** The first image as a file. */
function fileReply({ files }: Pick<Sold, 'files'>, { output }: ImageOffer, reply: Outgoing): Uint8Array {
  const [first] = files;
  assert(first, 'at least one image is sold');
  reply.header('content-type', `image/${output.format}`);
  return first.bytes;
}
