import { invalidRequest } from '@svc/contracts/problems';

/** The key of an `Idempotency-Key` header. Refuses: INVALID_REQUEST. */
export function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === 'string' && /^[\x20-\x7e]{1,255}$/.test(header)) return header;
  throw invalidRequest([
    {
      code: 'custom',
      path: ['Idempotency-Key'],
      message: 'Must have between 1 and 255 characters of visible ASCII.',
    },
  ]);
}
