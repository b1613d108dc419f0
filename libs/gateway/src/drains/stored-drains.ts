import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type DrainListener, Drains } from '@svc/contracts/inference';
import { RootLogger } from '@svc/runtime';
import { DrainStore } from './drain.store.js';

/** The pause before another attempt to read the drains. */
const AGAIN_MS = 1_000;

/** The drains in the database, for a router in the same process. */
@Injectable()
export class StoredDrains extends Drains implements OnApplicationShutdown {
  private readonly listeners = new Set<DrainListener>();
  private again: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: DrainStore,
    private readonly logger: RootLogger,
  ) {
    super();
  }

  override async follow(listener: DrainListener): Promise<() => void> {
    this.listeners.add(listener);
    await this.changed();
    return () => this.listeners.delete(listener);
  }

  /** Call this after each change. It never rejects. */
  async changed(): Promise<void> {
    if (this.listeners.size === 0) return;
    clearTimeout(this.again);
    try {
      const drains = await this.store.list();
      for (const listener of this.listeners) listener(drains);
    } catch (error) {
      this.logger.log.warn({ reason: String(error) }, 'the drains of backends could not be read');
      // It never rejects.
      this.again = setTimeout(() => void this.changed(), AGAIN_MS).unref();
    }
  }

  onApplicationShutdown(): void {
    clearTimeout(this.again);
    this.listeners.clear();
  }
}
