import { Injectable } from '@nestjs/common';
import { type Charge, Charges, Problem } from '@svc/contracts';
import { ReturnedCharges } from './books/returned-charges.js';
import { Poster } from './posting/poster.js';

/** Posts charges to the books within their own process. */
@Injectable()
export class LocalCharges extends Charges {
  constructor(
    private readonly poster: Poster,
    private readonly returned: ReturnedCharges,
  ) {
    super();
  }

  override post(charges: readonly Charge[]): Promise<void> {
    return this.poster.post(charges);
  }

  override giveBack(charge: Charge): Promise<void> {
    return this.returned.giveBack(charge);
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
