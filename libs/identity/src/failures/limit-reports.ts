import { Injectable } from '@nestjs/common';
import type { Caller, LimitedResource } from '@svc/contracts/ports';
import { EventLog, type LimitLogType, limitReached } from '@svc/contracts/messages';
import { RootLogger } from '@svc/runtime';
import { tierName } from '../accounts/tier-name.js';

/**
 * Reports waiting to be stored. The bound keeps a flood of refused requests from becoming a flood of events.
 */
const MAX_WAITING = 200;

/** A request that a limit refused. */
export interface Refused {
  readonly requestId: string;
  readonly caller: Caller;
  readonly resource: LimitedResource;
  readonly type: LimitLogType;
}

/** Publishes an event for each request that a limit refused. Responses do not wait for it. */
@Injectable()
export class LimitReports {
  private waiting = 0;
  private dropped = 0;

  constructor(
    private readonly events: EventLog,
    private readonly logger: RootLogger,
  ) {}

  add({ requestId, caller, resource, type }: Refused): void {
    if (this.waiting >= MAX_WAITING) {
      this.dropped += 1;
      return;
    }
    const { accountId, keyId } = caller;
    const at = new Date().toISOString();
    this.waiting += 1;
    // Never rejects: a failure is logged and the entry is lost.
    void this.publish({
      requestId,
      accountId,
      keyId,
      ...(resource.kind === 'model' ? { model: resource.name } : { model: '', route: resource.name }),
      tier: tierName(caller),
      type,
      at,
    });
  }

  private async publish(reached: Parameters<typeof limitReached.key>[0]): Promise<void> {
    try {
      await this.events.publish(limitReached, reached);
      if (this.dropped > 0)
        this.logger.log.warn(
          { entries: this.dropped },
          'rejected requests were not logged, because too many were waiting',
        );
      this.dropped = 0;
    } catch (error) {
      this.logger.log.warn({ error: String(error) }, 'a rejected request could not be logged');
    } finally {
      this.waiting -= 1;
    }
  }
}
