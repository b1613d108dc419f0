import { Controller, Header } from '@nestjs/common';
import { routes } from '@svc/contracts';
import { PROMETHEUS_TYPE, metricsText } from '@svc/telemetry';
import { Answers } from '../http/route.js';

/** What the process counts, for Prometheus. */
@Controller()
export class MetricsController {
  @Answers(routes.metrics)
  @Header('content-type', PROMETHEUS_TYPE)
  metrics(): string {
    return metricsText();
  }
}
