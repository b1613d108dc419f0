import type { EachBatchPayload } from 'kafkajs';
import { brokerFault } from './kafka-client.js';

/** kafkajs sends heartbeats during a batch only on request. */
const EVERY_MS = 1_000;

/** Keeps a member in its group while it handles its fetched events. */
export class MemberHeartbeat {
  private readonly payload: EachBatchPayload;
  private readonly timer: NodeJS.Timeout;
  private sawRebalance = false;
  private sawLoss = false;

  constructor(payload: EachBatchPayload) {
    this.payload = payload;
    this.timer = setInterval(() => void this.beat(), EVERY_MS);
  }

  /** Others join or leave, and wait for this member. What it has handled can still be committed. */
  get isRebalancing(): boolean {
    return this.sawRebalance;
  }

  /** The group continues without this member: another one may already have its events. */
  get isLost(): boolean {
    return this.sawLoss || !this.payload.isRunning();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async beat(): Promise<void> {
    try {
      await this.payload.heartbeat();
    } catch (error) {
      const fault = brokerFault(error);
      if (fault === 'REBALANCE_IN_PROGRESS') this.sawRebalance = true;
      // A missing response does not mean that the member is lost.
      else if (fault !== undefined) this.sawLoss = true;
    }
  }
}
