import { Readable } from 'node:stream';
import { Body, Controller, Param, Res } from '@nestjs/common';
import { FileBlocks } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { routes } from '@svc/api';
import { Serves } from '@svc/runtime';
import type { FastifyReply } from 'fastify';

/** The port `FileBlocks` over HTTP. */
@Controller()
export class FileBlocksPortController {
  constructor(private readonly blocks: FileBlocks) {}

  @Serves(routes.storeFileBlock)
  async store(@Param() { name }: { name: string }, @Body() bytes: Uint8Array): Promise<{ bytes: number }> {
    await this.blocks.put(name, bytes);
    return { bytes: bytes.length };
  }

  @Serves(routes.readFileBlock)
  async read(
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { name }: { name: string },
  ): Promise<Readable> {
    const bytes = await this.blocks.get(name);
    if (!bytes) throw new Problem('FILE_NOT_FOUND');
    reply.header('content-type', routes.readFileBlock.replyType);
    return Readable.from([bytes], { objectMode: false });
  }

  @Serves(routes.removeFileBlock)
  async remove(@Body() { name }: { name: string }): Promise<{ removed: true }> {
    await this.blocks.remove(name);
    return { removed: true };
  }
}
