import { Injectable } from '@nestjs/common';
import { type Charge, EventLog, encodeCharge, usageRecorded } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { DirectPosting } from './direct-posting.js';

/** Makes charges durable: in the event log, or else in the books themselves. */
@Injectable()
export class Settlement {
  constructor(
    private readonly log: EventLog,
    private readonly direct: DirectPosting,
    private readonly logger: RootLogger,
  ) {}

  /** Resolves when the charge is durable. Refuses with UNAVAILABLE when neither way takes it in time. */
  async record(charge: Charge): Promise<void> {
    try {
      await this.log.publish(usageRecorded, encodeCharge(charge));
    } catch (error) {
      // The log may have stored it nevertheless; then it is posted once all the same.
      this.logger.log.warn(
        { requestId: charge.requestId, error: String(error) },
        'the event log did not take a charge; it is posted directly',
      );
      await this.direct.post(charge);
    }
  }
}
