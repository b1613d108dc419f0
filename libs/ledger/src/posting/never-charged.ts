import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type Charge, Problem, encodeCharge } from '@svc/contracts';
import { RootLogger } from '@svc/runtime';
import { Poster } from './poster.js';

/** Gives back what a request cost. */
export abstract class ChargeReturn {
  /** All that is left of a posted charge, once, however often it is asked. Refuses where nothing is left. */
  abstract giveBack(charge: Charge): Promise<void>;
}

const MOST = 10_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2_000;

/**
 * Requests whose client was refused because no way took their charge. A copy of it may still come to light: in the event
 * log that did not answer, or in a posting that was under way. So a charge of nothing is posted under the request's id,
 * which no other charge can then have; where a copy was quicker, what it cost is given back.
 */
@Injectable()
export class NeverCharged implements OnModuleDestroy {
  private size = 0;
  private readonly stopping = new AbortController();

  constructor(
    private readonly poster: Poster,
    private readonly returns: ChargeReturn,
    private readonly logger: RootLogger,
  ) {}

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /** Tries until the books know it. True once they do; false where that can not be, which is logged. */
  async add(charge: Charge): Promise<boolean> {
    this.size += 1;
    try {
      let retryMs = FIRST_RETRY_MS;
      while (this.size <= MOST && !this.stopping.signal.aborted) {
        if (await this.tell(charge)) return true;
        await sleep(retryMs, undefined, { signal: this.stopping.signal }).catch(() => undefined);
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
      }
      this.logger.log.error(
        { charge: encodeCharge(charge) },
        'the books do not know yet that this is never charged',
      );
      return false;
    } finally {
      this.size -= 1;
    }
  }

  private async tell(charge: Charge): Promise<boolean> {
    const nothing: Charge = { ...charge, lines: [], cost: { usdNano: 0n, diemNano: 0n }, writeOffNano: 0n };
    try {
      await this.poster.post([nothing]);
      await this.returns.giveBack(charge);
    } catch (error) {
      // A charge of nothing has nothing to be given back.
      return error instanceof Problem && error.status < 500;
    }
    this.logger.log.warn({ requestId: charge.requestId }, 'what a refused request cost was given back');
    return true;
  }
}
