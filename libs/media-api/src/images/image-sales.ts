import { Injectable } from '@nestjs/common';
import { type Cost, usdNumber } from '@svc/contracts';
import { type HeaderValues, modelHeaders } from '@svc/paid/http';
import { type HttpPair, PaidOperations } from '@svc/paid/paid';
import { ImageMaker, type PictureOrder, type Pictures } from './image-maker.js';
import type { ImageSale } from './image-plan.js';

/** No picture is moderated. */
const CONTENT_HEADERS: HeaderValues = {
  'x-svc-is-blurred': 'false',
  'x-svc-is-content-violation': 'false',
  'x-svc-is-adult-model-content-violation': 'false',
  'x-content-type-options': 'nosniff',
};

/** Images, and what they cost. */
export type Sold = Pictures & { readonly cost: Cost };

/** Sells images. */
@Injectable()
export class ImageSales {
  constructor(
    private readonly paid: PaidOperations,
    private readonly maker: ImageMaker,
  ) {}

  /** `order` is called once the money is held; if it throws, nothing is charged. */
  async sell(
    sale: ImageSale,
    pair: HttpPair,
    order: (accountId: string, signal: AbortSignal) => Promise<PictureOrder>,
  ): Promise<Sold> {
    const { model, count } = sale;
    const { request, reply } = pair;
    const { record, id: requestId } = request;
    record.model = model.id;
    record.operation = 'image';
    reply.headers(modelHeaders(model, sale.deprecation));
    const { result, cost } = await this.paid.run(
      {
        name: model.id,
        limits: sale.limits,
        resource: { kind: 'model', name: model.id },
        // Each image counts as a request.
        amounts: { requests: count },
        hold: { amountNano: sale.lines(count).reduce((sum, { amountNano }) => sum + amountNano, 0n) },
        perform: async ({ accountId }, signal) =>
          this.maker.make({ ...sale, ...(await order(accountId, signal)) }, { requestId, accountId }, signal),
      },
      pair,
    );
    const { backend, retries } = result;
    reply.headers({ ...CONTENT_HEADERS, 'x-svc-model-router': backend });
    if (retries > 0) reply.header('x-retry-count', retries);
    return { ...result, cost: { usd: usdNumber(cost.usdNano), diem: usdNumber(cost.diemNano) } };
  }
}
