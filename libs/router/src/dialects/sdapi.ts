import { jsonHeaders } from '@svc/backend-calls';
import type { ImageOrder } from '@svc/contracts/inference';
import { z } from 'zod';
import type { Dialect } from '../dialect/dialect.js';
import { defined, faultOf, jsonOf } from './openai-images.js';
import { withoutTags } from './prompt-tags.js';

const Response = z.union([
  z.object({ images: z.array(z.string()).min(1) }),
  z.object({ image: z.string() }).transform(({ image }) => ({ images: [image] })),
]);

/**
 * The API of the Stable Diffusion web UI, which stable-diffusion.cpp, Forge and SD.Next have as well. It
 * serves one model, and has no field for its name, except to enlarge images.
 */
export const sdapi = {
  headers: jsonHeaders,
  images: {
    make: {
      // Some change the settings of the server.
      fields: new Set(),
      request: (_backend, order) => ({
        path: '/sdapi/v1/txt2img',
        body: [Buffer.from(JSON.stringify({ ...order.others, ...defined(settingsOf(order)) }))],
      }),
    },
    upscale: (model, { bytes }, factor) => ({
      path: '/sdapi/v1/extra-single-image',
      body: [
        Buffer.from(`{"image":"`),
        Buffer.from(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')),
        Buffer.from(`","resize_mode":0,"upscaling_resize":${factor},"upscaler_1":${JSON.stringify(model)}}`),
      ],
    }),
    read(bytes) {
      const body = bytes.toString();
      const parsed = Response.safeParse(jsonOf(body));
      if (!parsed.success) throw faultOf(body, 'the response has no images');
      return parsed.data.images.map((base64) => ({ base64 }));
    },
  },
} satisfies Dialect;

function settingsOf(order: ImageOrder): object {
  const { prompt, negativePrompt, count, width, height, steps, guidance, seed } = order;
  return {
    prompt: withoutTags(prompt),
    negative_prompt: negativePrompt === undefined ? undefined : withoutTags(negativePrompt),
    width,
    height,
    batch_size: count,
    steps,
    cfg_scale: guidance,
    // A negative seed means a random one.
    seed: seed !== undefined && seed < 0 ? seed + 2 ** 32 : seed,
  };
}
