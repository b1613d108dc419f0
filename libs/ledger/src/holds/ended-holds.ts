import { Injectable } from '@nestjs/common';
import { type Balances, type Hold, Holds } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';

/** What happens to a hold when its request is over. Nobody waits for it, so nothing here rejects: failures are logged. */
@Injectable()
export class EndedHolds {
  constructor(
    private readonly book: Holds,
    private readonly logger: RootLogger,
  ) {}

  /** Gives back what a hold has beyond the cost of its charge, which is durable. The rest ends with the posting. */
  async shrink(hold: Hold, cost: Balances): Promise<void> {
    try {
      await this.book.settle(hold, cost);
    } catch (error) {
      this.warn(hold, error);
    }
  }

  /** Gives all of a hold back: nothing will be charged. Without this it would end with its lease. */
  async release(hold: Hold): Promise<void> {
    try {
      await this.book.release(hold);
    } catch (error) {
      this.warn(hold, error);
    }
  }

  private warn({ requestId }: Hold, error: unknown): void {
    this.logger.log.warn({ requestId, error: String(error) }, 'a hold could not be ended');
  }
}
