import { Readable } from 'node:stream';
import { Body, Controller, Res } from '@nestjs/common';
import { MEDIA_JOBS_WIRE, type MediaJobCalls, MediaJobs, type PortCalls } from '@svc/contracts/ports';
import { routes } from '@svc/api';
import { Serves, PortResponses, RootLogger } from '@svc/runtime';
import type { FastifyReply } from 'fastify';

/** The port `MediaJobs` over HTTP: its calls, and the media as a stream of bytes. */
@Controller()
export class MediaJobsPortController {
  private readonly responses: PortResponses<MediaJobCalls>;

  constructor(
    private readonly jobs: MediaJobs,
    logger: RootLogger,
  ) {
    this.responses = new PortResponses<MediaJobCalls>(jobs, MEDIA_JOBS_WIRE, logger);
  }

  @Serves(routes.callMediaJobs)
  call(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.responses.response(calls, reply);
  }

  @Serves(routes.openMedia)
  async open(
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { id }: { id: string },
  ): Promise<Readable> {
    const content = await this.jobs.open(id);
    reply.header('content-type', routes.openMedia.replyType);
    return Readable.from(content, { objectMode: false });
  }
}
