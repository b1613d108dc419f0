import { type CustomTransportStrategy, Server } from '@nestjs/microservices';

/** How a group stands in a topic. Ids grow, though not always by one. */
export interface ConsumerState {
  readonly group: string;
  readonly topic: string;
  /** Events handled since this process started. */
  readonly handled: number;
  /** Events that could not be read and went to `<topic>.dead`. */
  readonly dead: number;
  /** Failures since the last batch that was handled; 0 when all is well. */
  readonly failures: number;
}

/** What brings events to the `@OnEvents` methods of an application. To be given to `connectMicroservice`. */
export abstract class EventStrategy extends Server implements CustomTransportStrategy {
  /**
   * Resolves when the group has handled every event of the topic that was durable at the time of the call. Rejects when
   * that takes longer than `deadlineMs`; default: 30 s.
   */
  abstract drained(topic: string, group: string, deadlineMs?: number): Promise<void>;
  abstract consumers(): readonly ConsumerState[];
}
