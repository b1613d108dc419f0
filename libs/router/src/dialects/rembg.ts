import { jsonHeaders } from '@svc/backend-calls';
import type { Dialect } from '../dialect/dialect.js';
import { formRequest } from './form-body.js';

/** The server of rembg, which removes backgrounds. Its response is a PNG file. */
export const rembg = {
  headers: jsonHeaders,
  images: {
    cutout: (model, image) =>
      formRequest('/api/remove', [
        ['model', model],
        ['file', image],
      ]),
    read: (body) => [{ base64: body.toString('base64') }],
  },
} satisfies Dialect;
