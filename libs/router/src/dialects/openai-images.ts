import { BackendError, errorStatus } from '@svc/backend-calls';
import { RESPONSE_JSON_LIMITS, jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';
import type { BackendImage, EditingDialect, ImagesDialect, MakingDialect } from '../dialect/dialect.js';
import { formRequest } from './form-body.js';
import { withoutTags } from './prompt-tags.js';

const Response = z.object({
  data: z.array(z.object({ b64_json: z.string().nullish(), url: z.string().nullish() })).min(1),
});

/**
 * OpenAI's API as implemented by vLLM-Omni, SGLang and LocalAI. Base64 is always requested, since SGLang
 * responds with URLs otherwise; PNG loses nothing, and every server makes it.
 */
const make: MakingDialect = {
  fields: new Set(['true_cfg_scale']),
  request({ model }, order) {
    const { prompt, negativePrompt, count, width, height, quality, steps, guidance, seed, others } = order;
    const own = {
      model,
      prompt: withoutTags(prompt),
      n: count,
      size: `${width}x${height}`,
      response_format: 'b64_json',
      output_format: 'png',
      negative_prompt: negativePrompt === undefined ? undefined : withoutTags(negativePrompt),
      quality,
      num_inference_steps: steps,
      guidance_scale: guidance,
      seed,
    };
    return {
      path: '/images/generations',
      body: [Buffer.from(JSON.stringify({ ...others, ...defined(own) }))],
    };
  },
};

/** The members that have a value. */
export function defined(members: object): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/**
 * A form as vLLM-Omni, SGLang and stable-diffusion.cpp read it. Further members are texts, since a form has
 * no other values.
 */
const edit: EditingDialect = {
  fields: new Set('seed guidance_scale true_cfg_scale strength'.split(' ')),
  request(model, order, { images: files, mask }) {
    const { prompt, count, width, height, quality, others } = order;
    const texts = {
      ...others,
      model,
      prompt: withoutTags(prompt),
      n: count,
      size: `${width}x${height}`,
      response_format: 'b64_json',
      output_format: 'png',
      ...(quality !== undefined && { quality }),
    };
    const name = files.length === 1 ? 'image' : 'image[]';
    return formRequest('/images/edits', [
      ...Object.entries(texts).map(
        ([member, value]) => [member, typeof value === 'string' ? value : JSON.stringify(value)] as const,
      ),
      ...files.map((file) => [name, file] as const),
      ...(mask ? [['mask', mask] as const] : []),
    ]);
  },
};

export const images = { make, edit, read: readImages } satisfies ImagesDialect;

function readImages(bytes: Buffer): BackendImage[] {
  const body = bytes.toString();
  const parsed = Response.safeParse(jsonOf(body));
  if (!parsed.success) throw faultOf(body, 'the response has no images');
  return parsed.data.data.map(({ b64_json: base64, url }) => {
    if (typeof base64 === 'string') return { base64 };
    if (typeof url === 'string') return { url };
    throw new Error('an image of the response has no data');
  });
}

/** The error that a response of status 200 contains, or one with this message. */
export function faultOf(body: string, message: string): Error {
  const status = errorStatus(body);
  return status === undefined ? new Error(message) : new BackendError(status, body);
}

export function jsonOf(body: string): unknown {
  return jsonOrUndefined(body, RESPONSE_JSON_LIMITS);
}
