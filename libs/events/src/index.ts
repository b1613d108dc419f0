export { EventStrategy, type ConsumerState } from './event-strategy.js';
export { EventsModule, type PostgresEventsConfig } from './events.module.js';
export type { EventsLogger } from './logger.js';
export { type Broadcast, OnEveryProcess } from './on-every-process.js';
export { type DeliveredEvent, type EventBatch, OnEvents } from './on-events.js';
export { EventNotStored } from './postgres-event-log.js';
