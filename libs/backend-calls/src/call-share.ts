import type { RoutedCall } from './call-mode.js';
import { bytesToTokens } from './choice/prompt.js';
import type { PlaceRequest } from './places.js';

/** What a call takes of its account's share of a backend, and how long it waits for a slot. */
export function placeRequestOf(
  { accountId, share, body }: RoutedCall,
  waitMs: number,
  signal: AbortSignal,
): PlaceRequest {
  const promptTokens = typeof body === 'function' ? 0 : bytesToTokens(body);
  return {
    accountId,
    band: share?.band ?? 'interactive',
    weight: share?.weight ?? 1,
    promptTokens,
    waitMs,
    signal,
  };
}
