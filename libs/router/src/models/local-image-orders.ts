import { type ImageCall, ImageOrders, type MadeImages, type Served } from '@svc/contracts/inference';
import { bytesOf, passing } from './call-body.js';
import { imageRequests } from './image-request.js';
import type { ModelCalls } from './model-calls.js';
import { imagesIn } from './server-calls.js';

/** Calls of image models. */
export class LocalImageOrders extends ImageOrders {
  constructor(private readonly calls: ModelCalls) {
    super();
  }

  override async make(call: ImageCall, signal: AbortSignal): Promise<Served<MadeImages>> {
    const { requestId, accountId, model, kind, order } = call;
    const { catalog, settings } = this.calls;
    const { pool, credentials } = this.calls.backends;
    const requestTo = imageRequests(call, passing(model, catalog));
    const routed = { requestId, accountId, model, kind, body: () => bytesOf(order) };
    const { ROUTER_IMAGE_TIMEOUT_MS: limitMs, ROUTER_IMAGE_LIMIT_BYTES: limitBytes } = settings;
    const endMs = performance.now() + limitMs;
    return this.calls.first(routed, signal, {
      deadlineMs: limitMs,
      pauseMs: limitMs,
      isStream: false,
      at: ({ images, headers: headersOf }, live) => {
        const request = images && requestTo(images, live.backend);
        if (!request) return undefined;
        return {
          request,
          isQueued: images.isQueued,
          take: async (exchange) => {
            const headers = headersOf({ requestId, key: credentials.keyOf(live) });
            const bounds = {
              limitMs: Math.max(1, endMs - performance.now()),
              limitBytes,
              count: order.count,
            };
            return {
              result: {
                images: await imagesIn(exchange, { pool, live, images, headers, signal, ...bounds }),
              },
            };
          },
        };
      },
    });
  }
}
