import { Problem } from '@svc/contracts';
import type { z } from 'zod';

/** The body of a call that the router translates. Throws INVALID_REQUEST on anything else. */
export function readCallBody<Body>(schema: z.ZodType<Body>, body: readonly Uint8Array[]): Body {
  try {
    return schema.parse(JSON.parse(Buffer.concat(body).toString()));
  } catch (error) {
    throw new Problem('INVALID_REQUEST', { cause: error });
  }
}
