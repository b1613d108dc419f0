import { z } from 'zod';
import { defineEvent } from './events.js';

/**
 * The permissions of a key, or of its account, have changed. Without a key, all keys of the account are
 * affected.
 */
const KeyChanged = z.object({ accountId: z.uuid(), keyId: z.uuid().optional() });

export type KeyChanged = z.infer<typeof KeyChanged>;

/** Published after the change is readable. Every process that caches keys consumes it. */
export const keyChanged = defineEvent<KeyChanged>({
  topic: 'key.changed.v1',
  key: ({ accountId }) => accountId,
  payload: KeyChanged,
  // Every process reads all of it, and none reads events from before its start.
  partitions: 1,
  retentionDays: 1,
});
