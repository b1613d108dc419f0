import { randomInt } from 'node:crypto';
import { haveChoice } from '@svc/contracts/catalog';
import type { RoutedCall } from './call-mode.js';
import { hashOf } from '@svc/runtime';
import { promptOf } from './choice/prompt.js';
import { type CallWork, NO_WORK } from './choice/server-work.js';

/** Nobody can know which prompts share a hash. */
const SECRET = randomInt(2 ** 32);

/**
 * What a call asks of a backend; undefined if there is only one. Prompts of two accounts have nothing in
 * common, unless the catalogue says that prompts of the model may be shared.
 */
export function workOf(
  { kind = 'chat', body, backends, accountId, cacheKey, encryption, sharesPrompts }: RoutedCall,
  isStream: boolean,
): CallWork | undefined {
  if (!haveChoice(backends)) return undefined;
  const account = sharesPrompts === true ? 0 : hashOf(accountId);
  const key = cacheKey === undefined ? undefined : hashOf(cacheKey, account);
  // Numbers of two builds of a model may differ slightly, so those of a request come from one backend.
  const isKeyed = kind === 'embeddings' || kind === 'rerank';
  if (kind !== 'chat' || typeof body === 'function') return { ...NO_WORK, key, isKeyed };
  const prompt = promptOf(body, account ^ SECRET);
  // The same text is encrypted differently each time.
  const blocks = encryption ? NO_WORK.blocks : prompt.blocks;
  return { tokens: prompt.tokens, blocks, key, isSilent: !isStream, isKeyed };
}
