import { accountEvent } from './account-events.js';
import type { EventDefinition } from './events.js';
import { keyChanged } from './key-events.js';
import { limitReached } from './limit-log.js';
import { usageRecorded } from './usage.js';

/** Every event of the platform. Their topics are created from this list. */
export const EVENTS = [
  usageRecorded,
  limitReached,
  keyChanged,
  accountEvent,
] as unknown as readonly EventDefinition[];
