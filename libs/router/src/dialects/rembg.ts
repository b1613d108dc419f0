import type { Dialect } from './dialect.js';
import { openai } from './openai.js';

/** The server of rembg, which removes backgrounds. Its response is a PNG file. */
export const rembg: Dialect = {
  ...openai,
  paths: { 'image-cutout': '/api/remove' },
  fields: {},
  cutoutForm: (model, image) => [
    ['model', model],
    ['file', image],
  ],
  readImages: (body) => [{ base64: body.toString('base64') }],
};
