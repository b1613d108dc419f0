import type { RoutedCall } from './call-mode.js';
import { bytesToTokens } from './choice/prompt.js';
import type { Sharer } from './sharing/token-queue.js';

/** What a call takes of its account's share of a backend. */
export function sharerOf({ accountId, share, body }: RoutedCall): Sharer {
  const promptTokens = typeof body === 'function' ? 0 : bytesToTokens(body);
  return {
    accountId,
    band: share?.band ?? 'interactive',
    weight: share?.weight ?? 1,
    promptTokens,
  };
}
