import { Injectable } from '@nestjs/common';
import { Outbox } from '@svc/events';
import { KeyCache } from '../auth/key-cache.js';

/** Makes a change to a key or its account take effect in every process. */
@Injectable()
export class KeyChanges {
  constructor(
    private readonly gate: KeyCache,
    private readonly outbox: Outbox,
  ) {}

  /** Call this after the change and its event are committed, before the response is sent. */
  made(accountId: string): void {
    this.gate.forget(accountId);
    this.outbox.wake();
  }
}
