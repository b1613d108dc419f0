import assert from 'node:assert/strict';
import { Body, Controller, Req, Res } from '@nestjs/common';
import { Catalog } from '@svc/catalog';
import {
  type Cost,
  type ImageGenerationReply,
  type ImageGenerationRequest,
  type ImageReply,
  type ImageRequest,
  type ImageStyleList,
  formatUsd,
  routes,
  usdNumber,
} from '@svc/contracts';
import { dataUrl } from '@svc/media';
import { Answers } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HeaderValues, modelHeaders } from '../http/header-values.js';
import { type HttpPair, PaidOperations } from '../paid/paid-operations.js';
import { ImageMaker, type Pictures } from './image-maker.js';
import { type ImagePlan, planGeneration, planImage } from './image-plan.js';
import { imageLines } from './image-price.js';
import { STYLE_NAMES } from './styles.js';

/** No picture is moderated. */
const CONTENT_HEADERS: HeaderValues = {
  'x-svc-is-blurred': 'false',
  'x-svc-is-content-violation': 'false',
  'x-svc-is-adult-model-content-violation': 'false',
  'x-content-type-options': 'nosniff',
};

@Controller()
export class ImagesController {
  constructor(
    private readonly paid: PaidOperations,
    private readonly maker: ImageMaker,
    private readonly catalog: Catalog,
  ) {}

  @Answers(routes.generateImage)
  async generate(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: ImageRequest,
  ): Promise<ImageReply | Uint8Array> {
    assert(request.caller, 'the route requires a key or a wallet');
    const plan = planImage(body, request.caller, this.catalog);
    const { files, cost, inferenceMs } = await this.sell(plan, { request, reply });
    const [first] = files;
    assert(first, 'at least one picture is sold');
    if (body.return_binary === true) {
      reply.header('content-type', `image/${plan.output.format}`);
      return first.bytes;
    }
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

  @Answers(routes.generateImages)
  async generations(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() body: ImageGenerationRequest,
  ): Promise<ImageGenerationReply> {
    assert(request.caller, 'the route requires a key or a wallet');
    const plan = planGeneration(body, request.caller, this.catalog);
    const { files, cost } = await this.sell(plan, { request, reply });
    const { format } = plan.output;
    const isUrl = body.response_format === 'url';
    const data = files.map(async ({ bytes }) =>
      isUrl ? { url: await dataUrl(`image/${format}`, bytes) } : { b64_json: base64Of(bytes) },
    );
    return {
      created: Math.floor(Date.now() / 1_000),
      data: await Promise.all(data),
      output_format: format,
      size: `${files[0]?.width}x${files[0]?.height}`,
      cost,
    };
  }

  @Answers(routes.imageStyles)
  styles(): ImageStyleList {
    return { object: 'list', data: [...STYLE_NAMES] };
  }

  private async sell(plan: ImagePlan, pair: HttpPair): Promise<Pictures & { readonly cost: Cost }> {
    const { model, order, tier } = plan;
    const { request, reply } = pair;
    const { record, id: requestId } = request;
    record.model = model.id;
    record.operation = 'image';
    reply.headers(modelHeaders(model, plan.deprecation));
    const { result, cost } = await this.paid.run(
      {
        name: model.id,
        limits: plan.limits,
        resource: { kind: 'model', name: model.id },
        // Each image counts as a request.
        amounts: { requests: order.count },
        hold: { amountNano: imageLines(model, tier, order.count)[0]?.amountNano ?? 0n },
        perform: ({ accountId }, signal) => this.maker.make(plan, { requestId, accountId }, signal),
      },
      pair,
    );
    const { backend, retries } = result;
    Object.assign(record, { backend });
    record.costUsd = formatUsd(cost.usdNano);
    record.costDiem = formatUsd(cost.diemNano);
    reply.headers({ ...CONTENT_HEADERS, 'x-svc-model-router': backend });
    if (retries > 0) reply.header('x-retry-count', retries);
    return { ...result, cost: { usd: usdNumber(cost.usdNano), diem: usdNumber(cost.diemNano) } };
  }
}

function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
