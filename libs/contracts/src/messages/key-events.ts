import { z } from 'zod';
import { defineEvent } from './events.js';

/** What a key may do has changed, or what its account may. Without a key, all keys of the account are meant. */
const KeyChanged = z.object({ accountId: z.uuid(), keyId: z.uuid().optional() });

export type KeyChanged = z.infer<typeof KeyChanged>;

/** Told after the change can be read. Every process that trusts keys listens to it. */
export const keyChanged = defineEvent<KeyChanged>({
  topic: 'key.changed.v1',
  key: ({ accountId }) => accountId,
  payload: KeyChanged,
  // Every process reads all of it, and nobody reads what was told before it started.
  partitions: 1,
  retentionDays: 1,
});
