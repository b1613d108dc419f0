import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { RootLogger } from '@svc/runtime';
import { KeyStore } from '../accounts/key.store.js';

const FLUSH_MS = 5_000;
/** Keys that may wait to be written. Uses of further keys are dropped until the next flush. */
const WAITING_MAX = 20_000;

/** Records when keys were used and writes it every few seconds, so that no request waits for the write. */
@Injectable()
export class KeyUses implements BeforeApplicationShutdown {
  private waiting = new Map<string, number>();
  private flushing: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly keys: KeyStore,
    private readonly logger: RootLogger,
  ) {}

  /** Writes the uses recorded up to the last response before the database is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.timer);
    await this.flushing;
    await this.flush();
  }

  /** Records that a key was used just now. */
  note(keyId: string): void {
    if (this.waiting.size < WAITING_MAX || this.waiting.has(keyId)) this.waiting.set(keyId, Date.now());
    this.flushSoon();
  }

  private flushSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.flush(); // It never rejects.
    }, FLUSH_MS).unref();
  }

  /** Writes all waiting uses in one statement. After a failure they are retried with the next flush. */
  flush(): Promise<void> {
    if (this.waiting.size === 0) return this.flushing ?? Promise.resolve();
    return (this.flushing ??= this.write().finally(() => {
      this.flushing = undefined;
      if (this.waiting.size > 0) this.flushSoon();
    }));
  }

  private async write(): Promise<void> {
    const uses = this.waiting;
    this.waiting = new Map();
    try {
      await this.keys.noteUses(uses);
    } catch (error) {
      this.logger.log.warn(`Could not record when keys were last used: ${String(error)}`);
      for (const [keyId, atMs] of uses) {
        if (this.waiting.size < WAITING_MAX && !this.waiting.has(keyId)) this.waiting.set(keyId, atMs);
      }
    }
  }
}
