import { Injectable } from '@nestjs/common';
import type { Cost } from '@svc/api/chat';
import { usdNumber } from '@svc/contracts/money';
import type { HeaderValues } from '@svc/paid/http';
import { type HttpPair, PaidOperations } from '@svc/paid/paid';
import { ImageMaker, type BackendOrder, type CheckedImages } from './image-maker.js';
import { PromptEnhancer } from './prompt-enhancer.js';
import type { ImageOffer } from './image-plan.js';

/** No image is moderated. */
const CONTENT_HEADERS: HeaderValues = {
  'x-svc-is-blurred': 'false',
  'x-svc-is-content-violation': 'false',
  'x-svc-is-adult-model-content-violation': 'false',
  'x-content-type-options': 'nosniff',
};

/** Images, and what they cost. */
export type Sold = CheckedImages & { readonly cost: Cost };

/** Sells images. */
@Injectable()
export class ImageSales {
  constructor(
    private readonly paid: PaidOperations,
    private readonly maker: ImageMaker,
    private readonly enhancer: PromptEnhancer,
  ) {}

  /** `order` is called once the money is held; if it throws, nothing is charged. */
  async sell(
    offer: ImageOffer,
    pair: HttpPair,
    order: (accountId: string, signal: AbortSignal) => Promise<BackendOrder>,
  ): Promise<Sold> {
    const { sale, count, lines, enhancement } = offer;
    const { request, reply } = pair;
    const { record, id: requestId } = request;
    record.operation = 'image';
    const { result, cost } = await this.paid.run(
      {
        sale,
        // Each image counts as a request.
        amounts: { requests: count },
        hold: {
          amountNano: lines(count).reduce(
            (sum, { amountNano }) => sum + amountNano,
            enhancement?.mostNano ?? 0n,
          ),
        },
        perform: async ({ accountId }, signal) => {
          const origin = { requestId, accountId };
          const ordered = { ...offer, ...(await order(accountId, signal)) };
          const rewritten = enhancement && (await this.enhancer.rewritten(enhancement, origin, signal));
          if (!rewritten) return this.maker.make(ordered, origin, signal);
          const prompt = enhancement.applied(rewritten.text);
          const made = await this.maker.make(withPrompt(ordered, prompt), origin, signal);
          reply.header('x-svc-enhanced-prompt', encodeURIComponent(prompt.toWellFormed()));
          return { ...made, lines: [...made.lines, ...rewritten.lines], usage: rewritten.usage };
        },
      },
      pair,
    );
    reply.headers(CONTENT_HEADERS);
    return { ...result, cost: { usd: usdNumber(cost.usdNano), diem: usdNumber(cost.diemNano) } };
  }
}

/** The same order with another prompt. What is only enlarged or cut out has none. */
function withPrompt<Order extends BackendOrder>(order: Order, prompt: string): Order {
  const { work } = order;
  switch (work.kind) {
    case 'image':
      return { ...order, work: { ...work, order: { ...work.order, prompt } } };
    case 'image-edit':
      return { ...order, work: { ...work, order: { ...work.order, prompt } } };
    case 'image-upscale':
    case 'image-cutout':
      return order;
  }
}
