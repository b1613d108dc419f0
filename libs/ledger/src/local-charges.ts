import { Injectable } from '@nestjs/common';
import { type Charge, Charges } from '@svc/contracts';
import { ReturnedCharges } from './books/returned-charges.js';
import { Poster } from './posting/poster.js';

/** The books as charges come to them, within their own process. */
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
