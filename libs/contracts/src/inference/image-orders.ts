import { z } from 'zod';
import type { CallFile, CallOrigin, Served } from './calls.js';

const Pixels = z.int().positive();

/** Images to be made from a text. */
export const ImageOrder = z.object({
  prompt: z.string().min(1),
  negativePrompt: z.string().optional(),
  /** How many images. */
  count: z.int().positive(),
  width: Pixels,
  height: Pixels,
  quality: z.string().optional(),
  steps: z.int().positive().optional(),
  /** How closely the image follows the prompt. */
  guidance: z.number().optional(),
  /** Of the first image. */
  seed: z.int().optional(),
  /** Further members for backends whose API has room for them. Those above take precedence. */
  others: z.record(z.string(), z.unknown()),
});
export type ImageOrder = z.infer<typeof ImageOrder>;

/** How images, which are the files of the call, are to be edited. */
export const ImageEdit = ImageOrder.pick({
  prompt: true,
  count: true,
  width: true,
  height: true,
  quality: true,
  others: true,
}).extend({
  /** Whether the last file is a mask: its transparent pixels are to be changed. */
  masked: z.boolean(),
});
export type ImageEdit = z.infer<typeof ImageEdit>;

/** How the only file of a call, an image, is to be enlarged, or its background removed. */
export const ImageChange = z.object({
  /** How many results. */
  count: z.int().positive(),
  /** How many times as wide and as high. Required to enlarge. */
  factor: z.number().min(1).max(4).optional(),
});
export type ImageChange = z.infer<typeof ImageChange>;

/** Images that a backend has made or changed. */
export const MadeImages = z.object({
  /**
   * Image files in base64, at least one and at most as many as ordered. Their first bytes are those of an
   * image; nothing else is known of them.
   */
  images: z.array(z.string()).min(1),
});
export type MadeImages = z.infer<typeof MadeImages>;

/** What is to be made, and the images that it starts from. */
export type ImageWork =
  | { readonly kind: 'image'; readonly order: ImageOrder }
  | { readonly kind: 'image-edit'; readonly order: ImageEdit; readonly files: readonly CallFile[] }
  | {
      readonly kind: 'image-upscale' | 'image-cutout';
      readonly order: ImageChange;
      readonly files: readonly CallFile[];
    };

export type ImageCall = CallOrigin & ImageWork;

/**
 * Calls of image models. Rejects as `Chat` does, and with INVALID_REQUEST without an image to
 * change.
 */
export abstract class ImageOrders {
  abstract make(call: ImageCall, signal: AbortSignal): Promise<Served<MadeImages>>;
}
