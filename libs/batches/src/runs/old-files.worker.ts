import { Injectable, type OnModuleInit } from '@nestjs/common';
import { deleteOldFiles } from '@svc/contracts/messages';
import { FileBlocks } from '@svc/contracts/ports';
import { JobWorkers } from '@svc/jobs';
import { BATCH_FILE_BYTES } from '@svc/api/batches';
import { BLOCK_BYTES } from '@svc/contracts/ports';
import { removeBlocks } from '../files/blocks.js';
import { FileStore } from '../files/file.store.js';
import { BatchStore } from '../records/batch.store.js';

const EVERY_MINUTE = '* * * * *';

/** Rows handled by one statement. */
const AT_ONCE = 20;
const OLD_BATCHES = 1_000;

/** The blocks that an upload may have written before it broke off. */
const BLOCKS_AT_MOST = Math.ceil(BATCH_FILE_BYTES / BLOCK_BYTES) + 1;

/** Deletes files that have been kept long enough, and their blocks first; in one process for all gateways. */
@Injectable()
export class OldFilesWorker implements OnModuleInit {
  constructor(
    private readonly files: FileStore,
    private readonly batches: BatchStore,
    private readonly blocks: FileBlocks,
    private readonly workers: JobWorkers,
  ) {}

  onModuleInit(): void {
    const work = (_payload: object, { signal }: { signal: AbortSignal }): Promise<void> =>
      this.delete(signal);
    this.workers.work(deleteOldFiles, work, { payload: {}, cron: EVERY_MINUTE });
  }

  async delete(signal: AbortSignal): Promise<void> {
    await this.batches.deleteOld(OLD_BATCHES);
    for (let count = AT_ONCE; count === AT_ONCE && !signal.aborted;) {
      const old = await this.files.old(AT_ONCE);
      for (const { id, blocks = BLOCKS_AT_MOST } of old) {
        signal.throwIfAborted();
        await removeBlocks(this.blocks, id, blocks);
        await this.files.forget(id);
      }
      count = old.length;
    }
  }
}
