import { Controller, Headers, Res } from '@nestjs/common';
import { routes } from '@svc/api';
import { scrapedMetrics } from '@svc/telemetry';
import type { FastifyReply } from 'fastify';
import { Serves } from '../http/route.js';

/** The metrics of the process, for Prometheus. */
@Controller()
export class MetricsController {
  @Serves(routes.metrics)
  metrics(
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): string {
    const { contentType, text } = scrapedMetrics(accept);
    reply.header('content-type', contentType);
    return text;
  }
}
