import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { TelemetryConfig } from '../telemetry.config.js';
import { pairsOf } from './otlp-target.js';

/** The source: this run of this process. Host names and arguments are deliberately not included. */
export const resourceOf = (config: TelemetryConfig, version: string): Resource =>
  resourceFromAttributes({
    'service.name': config.OTEL_SERVICE_NAME,
    'service.version': version,
    'service.instance.id': crypto.randomUUID(),
    ...pairsOf(config.OTEL_RESOURCE_ATTRIBUTES),
  });
