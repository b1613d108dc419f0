import type { EventDefinition } from './events.js';
import { keyChanged } from './key-events.js';
import { limitReached } from './limit-log.js';
import { usageRecorded } from './usage.js';

/** Every event of the platform. Their topics are created from this list. */
export const EVENTS = [usageRecorded, limitReached, keyChanged] as unknown as readonly EventDefinition[];
