import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { Controller, Param, Query, Req, Res } from '@nestjs/common';
import { routes } from '@svc/api';
import type {
  MessageBatchDeleted,
  MessageBatchPage,
  MessageBatchParams,
  MessageBatchQuery,
  MessageBatchView,
} from '@svc/api/messages';
import { type Caller, FileBlocks } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { CallerOf } from '@svc/identity/auth';
import { GatewaySettings } from '@svc/paid';
import { Serves, newId } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readBlocks } from '../files/blocks.js';
import { FileStore } from '../files/file.store.js';
import { Uploads, newFileId } from '../files/uploads.js';
import type { BatchRecord } from '../records/batch-record.js';
import { BatchStore } from '../records/batch.store.js';
import { BatchRunner } from '../runs/batch-runner.js';
import { keyOfBatch } from './batch-keys.js';
import { messageBatchView } from './views.js';

/** Batches in the form of Anthropic's Message Batches. */
@Controller()
export class MessageBatchesController {
  constructor(
    private readonly batches: BatchStore,
    private readonly files: FileStore,
    private readonly uploads: Uploads,
    private readonly blocks: FileBlocks,
    private readonly runner: BatchRunner,
    private readonly settings: GatewaySettings,
  ) {}

  @Serves(routes.createMessageBatch)
  async create(@Req() request: FastifyRequest, @CallerOf() caller: Caller): Promise<MessageBatchView> {
    const { accountId } = caller;
    const keyId = keyOfBatch(request, caller);
    assert(request.bodyStream, 'the route streams its body');
    const file = await this.uploads.receiveRequests(accountId, request.bodyStream);
    const batch = {
      id: `msgbatch_${newId()}`,
      accountId,
      keyId,
      form: 'anthropic',
      endpoint: '/v1/messages',
      inputFileId: file.id,
      outputFileId: newFileId(),
      errorFileId: newFileId(),
      lines: file.lines,
      metadata: null,
      outputSeconds: null,
      maxCostNano: null,
    } as const;
    const { GATEWAY_BATCH_ACCOUNT_LINES: accountLines } = this.settings.config;
    const made = await this.batches.insert(batch, accountLines).catch(async (error: unknown) => {
      // If this fails too, it is deleted once it has been kept long enough.
      await this.files.markDeleted(accountId, file.id).catch(() => undefined);
      throw error;
    });
    this.runner.wake();
    return messageBatchView(made);
  }

  @Serves(routes.listMessageBatches)
  async list(
    @CallerOf() { accountId }: Caller,
    @Query() { after_id: after, before_id: before, limit }: MessageBatchQuery,
  ): Promise<MessageBatchPage> {
    const wanted = { after, before, limit };
    const batches = await this.batches.list({ accountId, form: 'anthropic' }, wanted);
    const page = batches.slice(0, limit).map(messageBatchView);
    const data = before === undefined ? page : page.toReversed();
    return {
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: batches.length > limit,
    };
  }

  @Serves(routes.retrieveMessageBatch)
  async retrieve(@CallerOf() caller: Caller, @Param() params: MessageBatchParams): Promise<MessageBatchView> {
    return messageBatchView(await this.found(caller, params));
  }

  @Serves(routes.messageBatchResults)
  async results(
    @CallerOf() caller: Caller,
    @Param() params: MessageBatchParams,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const { endedAt, outputFileId } = await this.found(caller, params);
    if (!endedAt) throw new Problem('BATCH_UNFINISHED');
    const file = await this.files.find(caller.accountId, outputFileId, ['message_results']);
    if (!file) throw new Problem('FILE_NOT_FOUND');
    const { bytes, blocks } = file;
    reply.headers({ 'content-type': routes.messageBatchResults.replyType, 'content-length': bytes });
    return Readable.from(readBlocks(this.blocks, outputFileId, blocks), { objectMode: false });
  }

  @Serves(routes.cancelMessageBatch)
  async cancel(
    @CallerOf() { accountId }: Caller,
    @Param() { message_batch_id: id }: MessageBatchParams,
  ): Promise<MessageBatchView> {
    const batch = await this.batches.cancel({ accountId, id, form: 'anthropic' });
    this.runner.wake();
    return messageBatchView(batch);
  }

  @Serves(routes.deleteMessageBatch)
  async delete(
    @CallerOf() { accountId }: Caller,
    @Param() { message_batch_id: id }: MessageBatchParams,
  ): Promise<MessageBatchDeleted> {
    await this.batches.remove({ accountId, id, form: 'anthropic' });
    return { id, type: 'message_batch_deleted' };
  }

  private async found(
    { accountId }: Caller,
    { message_batch_id: id }: MessageBatchParams,
  ): Promise<BatchRecord> {
    const batch = await this.batches.find({ accountId, id, form: 'anthropic' });
    if (!batch) throw new Problem('BATCH_NOT_FOUND');
    return batch;
  }
}
