import { Body, Controller, Param, Query, Req } from '@nestjs/common';
import { routes } from '@svc/api';
import {
  BATCH_LINES,
  type BatchPage,
  type BatchParams,
  type BatchRequest,
  type BatchView,
  type PageQuery,
} from '@svc/api/batches';
import type { Caller } from '@svc/contracts/ports';
import { usdToNano } from '@svc/contracts/money';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import { CallerOf } from '@svc/identity/auth';
import { GatewaySettings } from '@svc/paid';
import { Serves, newId } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { type FileRecord, FileStore } from '../files/file.store.js';
import { newFileId } from '../files/uploads.js';
import { BatchStore } from '../records/batch.store.js';
import { BatchRunner } from '../runs/batch-runner.js';
import { keyOfBatch } from './batch-keys.js';
import { batchView, pageOf } from './views.js';

/** Batches in OpenAI's form. */
@Controller()
export class BatchesController {
  constructor(
    private readonly batches: BatchStore,
    private readonly files: FileStore,
    private readonly runner: BatchRunner,
    private readonly settings: GatewaySettings,
  ) {}

  @Serves(routes.createBatch)
  async create(
    @Req() request: FastifyRequest,
    @CallerOf() caller: Caller,
    @Body() body: BatchRequest,
  ): Promise<BatchView> {
    const { accountId } = caller;
    const keyId = keyOfBatch(request, caller);
    const { max_cost_usd: maxUsd } = body;
    const maxCostNano = maxUsd === null || maxUsd === undefined ? null : usdToNano(maxUsd);
    const file = await this.input(accountId, body.input_file_id);
    const batch = await this.batches.insert(
      {
        id: `batch_${newId()}`,
        accountId,
        keyId,
        form: 'openai',
        endpoint: body.endpoint,
        inputFileId: file.id,
        outputFileId: newFileId(),
        errorFileId: newFileId(),
        lines: file.lines,
        metadata: body.metadata ?? null,
        outputSeconds: body.output_expires_after?.seconds ?? null,
        maxCostNano,
      },
      this.settings.config.GATEWAY_BATCH_ACCOUNT_LINES,
    );
    this.runner.wake();
    return batchView(batch);
  }

  @Serves(routes.listBatches)
  async list(@CallerOf() { accountId }: Caller, @Query() query: PageQuery): Promise<BatchPage> {
    const batches = await this.batches.list({ accountId, form: 'openai' }, query);
    return pageOf(batches.map(batchView), query.limit);
  }

  @Serves(routes.retrieveBatch)
  async retrieve(
    @CallerOf() { accountId }: Caller,
    @Param() { batch_id: id }: BatchParams,
  ): Promise<BatchView> {
    const batch = await this.batches.find({ accountId, id, form: 'openai' });
    if (!batch) throw new Problem('BATCH_NOT_FOUND');
    return batchView(batch);
  }

  @Serves(routes.cancelBatch)
  async cancel(
    @CallerOf() { accountId }: Caller,
    @Param() { batch_id: id }: BatchParams,
  ): Promise<BatchView> {
    const batch = await this.batches.cancel({ accountId, id, form: 'openai' });
    this.runner.wake();
    return batchView(batch);
  }

  private async input(accountId: string, id: string): Promise<FileRecord> {
    const refused = (message: string): Problem =>
      invalidRequest([{ code: 'custom', path: ['input_file_id'], message }]);
    const file = await this.files.find(accountId, id);
    if (!file) throw new Problem('FILE_NOT_FOUND', { param: 'input_file_id' });
    if (file.purpose !== 'batch') throw refused('must be a file with the purpose `batch`');
    if (file.lines === 0) throw refused('must be a file with at least one line that is not empty');
    if (file.lines > BATCH_LINES)
      throw refused(`must be a file of at most ${BATCH_LINES} lines; this one has ${file.lines}`);
    return file;
  }
}
