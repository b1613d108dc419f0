import { DAY_MS } from '@svc/contracts/ports';

/** Start of the next UTC day, in ISO 8601, when daily credit and daily limits are reset. */
export function nextEpochBegins(): string {
  return new Date((Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS).toISOString();
}
