import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Catalog, Characters, type FileChange } from '@svc/catalog';
import { RootLogger } from '@svc/runtime';
import { ActionStore } from './action.store.js';

/**
 * Records each change of the operator's files among the operator's actions, once for all gateways. A change
 * that can't be recorded is in force all the same: each process logs it too.
 */
@Injectable()
export class FileChanges implements OnApplicationBootstrap {
  constructor(
    private readonly catalog: Catalog,
    private readonly characters: Characters,
    private readonly actions: ActionStore,
    private readonly logger: RootLogger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    for (const { source } of [this.catalog, this.characters]) {
      // `record` never rejects.
      source?.onReplaced((_, change) => void this.record(change));
      if (source?.lastChange) await this.record(source.lastChange);
    }
  }

  private async record({ name, hash, changes }: FileChange): Promise<void> {
    try {
      await this.actions.recordFile(`${name}File`, hash, { changes });
    } catch (error) {
      this.logger.log.warn({ name, hash, reason: String(error) }, 'the change of a file was not recorded');
    }
  }
}
