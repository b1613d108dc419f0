import { Controller } from '@nestjs/common';
import { type KeyChanged, keyChanged } from '@svc/contracts';
import { type Broadcast, OnEveryProcess } from '@svc/events';
import { KeyCache } from '../auth/key-cache.js';

/** Applies key changes to the cache of every process. */
@Controller()
export class KeyChangesConsumer {
  constructor(private readonly gate: KeyCache) {}

  @OnEveryProcess(keyChanged)
  apply({ events, missed }: Broadcast<KeyChanged>): Promise<void> {
    if (missed) this.gate.invalidate();
    for (const { payload } of events) this.gate.forget(payload.accountId);
    return Promise.resolve();
  }
}
