import { Controller, Injectable } from '@nestjs/common';
import { type KeyChanged, keyChanged } from '@svc/contracts/messages';
import { type Broadcast, OnEveryProcess, Outbox } from '@svc/events';
import { KeyCache } from '@svc/identity/auth';
import { EndUsers } from '@svc/identity/end-users';

/** Makes a change to a key or its account take effect in every process. */
@Injectable()
export class KeyChanges {
  constructor(
    private readonly gate: KeyCache,
    private readonly outbox: Outbox,
    private readonly users: EndUsers,
  ) {}

  /** Call this after the change and its event are committed, before the response is sent. */
  made(accountId: string): void {
    this.gate.forget(accountId);
    this.users.forget(accountId);
    this.outbox.wake();
  }
}

/** Applies key changes to the cache of every process. */
@Controller()
export class KeyChangesConsumer {
  constructor(
    private readonly gate: KeyCache,
    private readonly users: EndUsers,
  ) {}

  @OnEveryProcess(keyChanged)
  apply({ events, missed }: Broadcast<KeyChanged>): Promise<void> {
    if (missed) {
      this.gate.invalidate();
      this.users.forgetAll();
    }
    for (const { payload } of events) {
      this.gate.forget(payload.accountId);
      this.users.forget(payload.accountId);
    }
    return Promise.resolve();
  }
}
