import { catalogConfig, gatewayUrl } from '@svc/catalog';
import { routerConfig } from '@svc/router';
import { internalTokens, processConfig } from '@svc/runtime';
import type { z } from 'zod';

/**
 * Settings of the process that calls backends. By default it logs only warnings: the gateway logs each
 * request.
 */
export const inferenceRouterConfig = {
  ...routerConfig,
  ...processConfig({ name: 'inference-router', port: 3003, logLevel: 'warn' }),
  ...catalogConfig,
  ...gatewayUrl,
  ...internalTokens({ accepts: 'ROUTER', maySend: ['GATEWAY'] }),
};

export type InferenceRouterConfig = z.infer<z.ZodObject<typeof inferenceRouterConfig>>;
