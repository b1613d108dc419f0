import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type KeyFound, KeyStore } from '../accounts/key.store.js';

/** Pause before each statement, during which further lookups join it. */
const PAUSE_MS = 50;
/** Digests in one statement. */
const BATCH = 1_000;
const MAX_WAITING = 10_000;

interface WaitingLookup {
  readonly digest: string;
  readonly resolve: (found: KeyFound | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Looks up keys for addresses that are blocked for their failures. One statement at a time serves all lookups
 * that arrived in the meantime, so a flood of wrong keys costs each process at most 20 statements a second. A
 * valid key from such an address is found about 50 ms later than usual instead of being refused.
 */
@Injectable()
export class BatchedLookups {
  private readonly waiting: WaitingLookup[] = [];
  private isRunning = false;

  constructor(private readonly keys: KeyStore) {}

  find(digest: string): Promise<KeyFound | undefined> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length >= MAX_WAITING) {
        reject(new Error(`${MAX_WAITING} lookups of blocked addresses are waiting`));
        return;
      }
      this.waiting.push({ digest, resolve, reject });
      if (!this.isRunning) void this.run(); // It never rejects.
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) {
      await sleep(PAUSE_MS);
      await this.look(this.waiting.splice(0, BATCH));
    }
    this.isRunning = false;
  }

  private async look(batch: readonly WaitingLookup[]): Promise<void> {
    try {
      const digests = batch.map(({ digest }) => Buffer.from(digest, 'base64'));
      const found = await this.keys.findByDigests(digests);
      for (const { digest, resolve } of batch) resolve(found.get(digest));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
