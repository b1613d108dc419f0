import { Injectable } from '@nestjs/common';
import type { Balances } from '@svc/contracts/money';
import { type Hold, Holds } from '@svc/contracts/ports';
import { RootLogger } from '@svc/runtime';

/** Ends a hold when its request is over. The request does not wait for this, so failures are only logged. */
@Injectable()
export class EndedHolds {
  constructor(
    private readonly book: Holds,
    private readonly logger: RootLogger,
  ) {}

  /** Shrinks a hold to the cost of its durable charge. Posting the charge ends the rest. */
  shrink(hold: Hold, cost: Balances): void {
    try {
      this.book.settle(hold, cost)?.catch((error: unknown) => this.warn(hold, error));
    } catch (error) {
      this.warn(hold, error);
    }
  }

  /** Releases a whole hold, because nothing will be charged. Without this it would end with its lease. */
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
