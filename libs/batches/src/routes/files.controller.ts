import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { Controller, Param, Query, Req, Res } from '@nestjs/common';
import { routes } from '@svc/api';
import type { FileDeleted, FilePage, FileParams, FileQuery, FileView } from '@svc/api/batches';
import { FileBlocks, type Caller } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { CallerOf } from '@svc/identity/auth';
import { Serves } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { rangeOf, readBytes } from '../files/blocks.js';
import { type FileRecord, FileStore } from '../files/file.store.js';
import { Uploads } from '../files/uploads.js';
import { fileView, pageOf } from './views.js';

const PARTIAL_CONTENT = 206;

@Controller()
export class FilesController {
  constructor(
    private readonly files: FileStore,
    private readonly uploads: Uploads,
    private readonly blocks: FileBlocks,
  ) {}

  @Serves(routes.uploadFile)
  async upload(@Req() request: FastifyRequest, @CallerOf() { accountId }: Caller): Promise<FileView> {
    const { bodyStream, headers } = request;
    assert(bodyStream, 'the route streams its body');
    return fileView(await this.uploads.receive(accountId, bodyStream, headers['content-type'] ?? ''));
  }

  @Serves(routes.listFiles)
  async list(@CallerOf() { accountId }: Caller, @Query() query: FileQuery): Promise<FilePage> {
    const files = await this.files.list(accountId, query);
    return pageOf(files.map(fileView), query.limit);
  }

  @Serves(routes.retrieveFile)
  async retrieve(@CallerOf() caller: Caller, @Param() { file_id: id }: FileParams): Promise<FileView> {
    return fileView(await this.found(caller, id));
  }

  @Serves(routes.downloadFile)
  async download(
    @Req() { caller, headers }: FastifyRequest,
    @Param() { file_id: id }: FileParams,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    assert(caller, 'the route requires a key');
    const { bytes } = await this.found(caller, id);
    const wanted = rangeOf(headers.range, bytes);
    if (wanted === null) {
      reply.header('content-range', `bytes */${bytes}`);
      throw new Problem('RANGE_NOT_SATISFIABLE');
    }
    const { from, to } = wanted ?? { from: 0, to: bytes };
    reply.headers({
      'content-type': routes.downloadFile.replyType,
      'content-length': to - from,
      'accept-ranges': 'bytes',
    });
    if (wanted) reply.status(PARTIAL_CONTENT).header('content-range', `bytes ${from}-${to - 1}/${bytes}`);
    return Readable.from(readBytes(this.blocks, id, { from, to }), { objectMode: false });
  }

  @Serves(routes.deleteFile)
  async delete(
    @CallerOf() { accountId }: Caller,
    @Param() { file_id: id }: FileParams,
  ): Promise<FileDeleted> {
    await this.files.markDeleted(accountId, id);
    return { id, object: 'file', deleted: true };
  }

  private async found({ accountId }: Caller, id: string): Promise<FileRecord> {
    const file = await this.files.find(accountId, id);
    if (!file) throw new Problem('FILE_NOT_FOUND');
    return file;
  }
}
