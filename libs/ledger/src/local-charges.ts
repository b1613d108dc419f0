import { Injectable } from '@nestjs/common';
import { type Charge, emptyCharge, givenBack, usageRecorded } from '@svc/contracts/messages';
import { Charges } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { addToOutbox } from '@svc/events';
import { HoldBook } from '@svc/hold-book';
import { RootLogger } from '@svc/runtime';
import { Database } from '@svc/storage';
import { NEVER_CHARGED } from './accounts/returned-charges.store.js';
import { RefundsStore } from './books/refunds.store.js';
import { GiveBacks, Poster } from './posting/poster.js';

/** Gives back in the books of this process. */
@Injectable()
export class LocalGiveBacks extends GiveBacks {
  constructor(
    private readonly poster: Poster,
    private readonly refunds: RefundsStore,
    private readonly holdBook: HoldBook,
    private readonly logger: RootLogger,
  ) {
    super();
  }

  /** The refund has a reference that no operator would choose. */
  override async post(charge: Charge): Promise<void> {
    const { accountId, requestId } = charge;
    await this.poster.post([emptyCharge(charge)]);
    const reference = `${NEVER_CHARGED}${requestId}`;
    try {
      const { balances, isNew } = await this.refunds.refund({ accountId, requestId, reference });
      await this.holdBook.post([{ ...balances, requestIds: [] }]);
      if (isNew) this.logger.log.warn({ requestId }, 'the charge of a failed request was refunded');
    } catch (error) {
      // A 4xx problem means that there is nothing to refund: the empty charge came first.
      if (!(error instanceof Problem && error.status < 500)) throw error;
    }
  }
}

/** Posts charges to the books within their own process. */
@Injectable()
export class LocalCharges extends Charges {
  constructor(
    private readonly poster: Poster,
    private readonly giveBacks: GiveBacks,
    private readonly database: Database,
  ) {
    super();
  }

  override post(charges: readonly Charge[]): Promise<void> {
    return this.poster.post(charges);
  }

  /** The event is stored first: a restored database may have neither the refund nor the empty charge. */
  override async giveBack(charge: Charge): Promise<void> {
    await addToOutbox(
      (sql, values) => this.database.query(sql, [...values]),
      usageRecorded,
      givenBack(charge),
    );
    await this.giveBacks.post(charge);
  }
}

/** Used while no charge may be posted: callers keep their charges and retry. */
export class RefusedCharges extends Charges {
  override post(): Promise<void> {
    return Promise.reject(new Problem('UNAVAILABLE'));
  }

  override giveBack(): Promise<void> {
    return Promise.reject(new Problem('UNAVAILABLE'));
  }
}
