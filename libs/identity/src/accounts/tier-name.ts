import type { Caller } from '@svc/contracts/ports';

/** The tier of an account's limits as clients see it. */
export function tierName({ tier, paid }: Caller): string {
  if (tier === 'partner') return 'partner';
  return paid ? 'paid' : 'free';
}
