import { Injectable } from '@nestjs/common';
import { EventLog, type KeyChanged, Problem, keyChanged } from '@svc/contracts';
import { KeyCache } from '../auth/key-cache.js';

/** Makes a change of a key, or of what its account may, take effect in every process. */
@Injectable()
export class KeyChanges {
  constructor(
    private readonly gate: KeyCache,
    private readonly log: EventLog,
  ) {}

  /** To be called once the change can be read, and before anybody is told that it was made. Refuses: UNAVAILABLE. */
  async announce(change: KeyChanged): Promise<void> {
    this.gate.forget(change.accountId);
    try {
      await this.log.publish(keyChanged, change);
    } catch (error) {
      const message =
        'The change may have been made and may not be in effect everywhere yet. Please ask for it again.';
      throw new Problem('UNAVAILABLE', { message, cause: error });
    }
  }
}
