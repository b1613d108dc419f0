import { Module } from '@nestjs/common';
import { FileStore } from './files/file.store.js';
import { Uploads } from './files/uploads.js';
import { LineCalls } from './lines/line-calls.js';
import { BatchStore } from './records/batch.store.js';
import { ResultStore } from './records/result.store.js';
import { BatchesController } from './routes/batches.controller.js';
import { FilesController } from './routes/files.controller.js';
import { MessageBatchesController } from './routes/message-batches.controller.js';
import { BatchRunner } from './runs/batch-runner.js';
import { OldFilesWorker } from './runs/old-files.worker.js';

/** Files and batches. Needs `PaidModule`, whose neighbours must provide `FileBlocks`, and the global ones. */
@Module({
  controllers: [FilesController, BatchesController, MessageBatchesController],
  providers: [BatchRunner, BatchStore, FileStore, LineCalls, OldFilesWorker, ResultStore, Uploads],
})
export class BatchesModule {}
