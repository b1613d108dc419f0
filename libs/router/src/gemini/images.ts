import { BackendError } from '@svc/backend-calls';
import type { ImageOrder } from '@svc/contracts/inference';
import { readChoiceEnd } from '@svc/contracts/messages';
import { RESPONSE_JSON_LIMITS, jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';
import { unsupported } from '../chat/other-forms.js';

/** Width to height. Source: the provider's guides to Imagen, and to images of Gemini. */
const IMAGEN_RATIOS = ['1:1', '3:4', '4:3', '9:16', '16:9'];
const GEMINI_RATIOS = [...IMAGEN_RATIOS, '2:3', '3:2', '4:5', '5:4', '21:9'];

/** The square roots of the pixels between two sizes, which have 1, 4 and 16 megapixels. */
const SIZES_FROM = [
  [2_896, '4K'],
  [1_448, '2K'],
] as const;

type Size = Pick<ImageOrder, 'width' | 'height'>;

/** The nearest ratio: the API has no pixels. */
function ratioOf({ width, height }: Size, ratios: readonly string[]): string | undefined {
  const wanted = Math.log(width / height);
  const distanceOf = (ratio: string): number => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(across / down) - wanted);
  };
  return ratios.toSorted((one, other) => distanceOf(one) - distanceOf(other))[0];
}

/** Undefined for the smallest size, since models that have no other refuse the member. */
const sizeOf = ({ width, height }: Size): string | undefined =>
  SIZES_FROM.find(([from]) => Math.sqrt(width * height) >= from)?.[1];

/** Whether a model is called by `predict`, which all models of Imagen are. */
export const isImagen = (model: string): boolean => /imagen/i.test(model);

/** The body of `predict` for Imagen. */
export const imagenBody = (order: ImageOrder): object => ({
  instances: [{ prompt: order.prompt }],
  parameters: {
    ...order.others,
    sampleCount: order.count,
    aspectRatio: ratioOf(order, IMAGEN_RATIOS),
    sampleImageSize: sizeOf(order),
    negativePrompt: order.negativePrompt,
    guidanceScale: order.guidance,
    seed: order.seed,
    includeRaiReason: true,
  },
});

/** The body of `generateContent` for a model that makes an image. Throws BackendError for what it has not. */
export function contentImageBody(order: ImageOrder): object {
  const { prompt, negativePrompt, count, guidance, seed, others } = order;
  if (count > 1) throw unsupported('this model makes one image a request', 'n');
  if (negativePrompt !== undefined)
    throw unsupported('this model has no negative prompts', 'negative_prompt');
  if (guidance !== undefined) throw unsupported('this model has no scale of guidance', 'cfg_scale');
  return {
    contents: [{ role: 'user', parts: [{ text: prompt }] }],
    generationConfig: {
      ...others,
      responseModalities: ['IMAGE'],
      imageConfig: { aspectRatio: ratioOf(order, GEMINI_RATIOS), imageSize: sizeOf(order) },
      seed,
    },
  };
}

const Text = z.string().optional();

/** Source of both forms: the SDK of the provider. */
const Made = z.object({
  predictions: z.array(z.object({ bytesBase64Encoded: Text, raiFilteredReason: Text })).default([]),
  candidates: z
    .array(
      z.object({
        finishReason: Text,
        content: z
          .object({
            parts: z
              .array(
                z.object({
                  thought: z.boolean().optional(),
                  inlineData: z.object({ data: z.string() }).optional(),
                }),
              )
              .default([]),
          })
          .optional(),
      }),
    )
    .default([]),
  promptFeedback: z.object({ blockReason: Text }).optional(),
});
type Made = z.infer<typeof Made>;

/**
 * The images of a response to either of them, in base64; none if it has none. Throws BackendError if all were
 * filtered for what they show or what the prompt says.
 */
export function madeImages(body: string): readonly string[] {
  const made = Made.safeParse(jsonOrUndefined(body, RESPONSE_JSON_LIMITS)).data;
  if (!made) return [];
  const parts = made.candidates.flatMap(({ content }) => content?.parts ?? []);
  const images = [
    ...made.predictions.flatMap(({ bytesBase64Encoded }) => bytesBase64Encoded ?? []),
    // Drafts are thoughts.
    ...parts.flatMap(({ thought, inlineData }) => (thought === true ? [] : (inlineData?.data ?? []))),
  ];
  if (images.length === 0 && isFiltered(made))
    throw new BackendError(400, '{"error":{"code":"content_policy_violation"}}');
  return images;
}

const isFiltered = ({ predictions, candidates, promptFeedback }: Made): boolean =>
  promptFeedback?.blockReason !== undefined ||
  predictions.some(({ raiFilteredReason }) => raiFilteredReason !== undefined) ||
  candidates.some(({ finishReason }) => readChoiceEnd(finishReason).end === 'content_filter');
