import { Readable } from 'node:stream';
import { Body, Controller, Res } from '@nestjs/common';
import { MEDIA_JOBS_WIRE, type MediaJobCalls, MediaJobs, type PortCalls, routes } from '@svc/contracts';
import { Answers, PortAnswers, RootLogger } from '@svc/runtime';
import type { FastifyReply } from 'fastify';

/** The port `MediaJobs` over HTTP: its calls, and the media as a stream of bytes. */
@Controller()
export class MediaJobsPortController {
  private readonly answers: PortAnswers<MediaJobCalls>;

  constructor(
    private readonly jobs: MediaJobs,
    logger: RootLogger,
  ) {
    this.answers = new PortAnswers<MediaJobCalls>(jobs, MEDIA_JOBS_WIRE, logger);
  }

  @Answers(routes.callMediaJobs)
  call(@Body() calls: PortCalls, @Res() reply: FastifyReply): Promise<void> {
    return this.answers.answer(calls, reply);
  }

  @Answers(routes.openMedia)
  async open(
    @Res({ passthrough: true }) reply: FastifyReply,
    @Body() { id }: { id: string },
  ): Promise<Readable> {
    const content = await this.jobs.open(id);
    reply.header('content-type', routes.openMedia.replyType);
    return Readable.from(content, { objectMode: false });
  }
}
