import { Injectable } from '@nestjs/common';
import { Outbox } from '@svc/events';
import { KeyCache } from '../auth/key-cache.js';

/** Makes a change of a key, or of what its account may, take effect in every process. */
@Injectable()
export class KeyChanges {
  constructor(
    private readonly gate: KeyCache,
    private readonly outbox: Outbox,
  ) {}

  /** To be called once the change is committed, with its event, and before anybody is told that it was made. */
  made(accountId: string): void {
    this.gate.forget(accountId);
    this.outbox.wake();
  }
}
