import { type ImageCall, ImageOrders, type MadeImages, type Served } from '@svc/contracts/inference';
import type { BackendCalls } from './backend-calls.js';
import { bytesOf, passing } from './backends/call-body.js';
import { imageCall } from './backends/image-call.js';
import { imagesIn } from './backends/server-calls.js';

/** Calls of image models. */
export class LocalImageOrders extends ImageOrders {
  constructor(private readonly calls: BackendCalls) {
    super();
  }

  override async make(call: ImageCall, signal: AbortSignal): Promise<Served<MadeImages>> {
    const { catalog, pool, requests, settings } = this.calls;
    const { count, ...mode } = imageCall(call, passing(call, catalog));
    const { requestId, accountId, model, kind, order } = call;
    const routed = { requestId, accountId, model, kind, body: () => bytesOf(order) };
    const { ROUTER_IMAGE_TIMEOUT_MS: limitMs, ROUTER_IMAGE_LIMIT_BYTES: limitBytes } = settings;
    const endMs = performance.now() + limitMs;
    return this.calls.firstAvailable(routed, signal, {
      deadlineMs: limitMs,
      pauseMs: limitMs,
      isStream: false,
      ...mode,
      take: async (exchange, live) => {
        const headers = live.dialect.headers({ requestId: requestId, key: requests.keyFor(live) });
        const bounds = { limitMs: Math.max(1, endMs - performance.now()), limitBytes, count };
        const { connections } = pool;
        const images = await imagesIn(exchange, { connections, live, headers, signal, ...bounds });
        return { result: { images } };
      },
    });
  }
}
