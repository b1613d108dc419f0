import { routerConfig } from '@svc/router';
import { catalogConfig, internalTokens, processConfig } from '@svc/runtime';
import type { z } from 'zod';

/** Settings of the process that asks backends. Each call belongs to a request that its gateway logs. */
export const inferenceRouterConfig = {
  ...routerConfig,
  ...processConfig({ name: 'inference-router', port: 3003, logLevel: 'warn' }),
  ...catalogConfig,
  ...internalTokens,
};

export type InferenceRouterConfig = z.infer<z.ZodObject<typeof inferenceRouterConfig>>;
