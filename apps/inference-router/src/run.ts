import 'reflect-metadata';
import { LastGoodOfGateways, openCatalog } from '@svc/catalog';
import { type Environment, runProcess } from '@svc/runtime';
import { inferenceRouterConfig } from './inference-router.config.js';
import { InferenceRouterModule } from './inference-router.module.js';

/** Serves the router to the other processes. */
export const run = (env: Environment): Promise<void> =>
  runProcess(env, {
    settings: inferenceRouterConfig,
    start: async (starting) => {
      const { config, serve } = starting;
      const lastGood = new LastGoodOfGateways(config.GATEWAY_URL, config.GATEWAY_TOKEN);
      const catalog = await openCatalog(config, starting, { lastGood, callsBackends: true });
      const { apiUrl } = await serve({ module: InferenceRouterModule.with(config, catalog, env) });
      return `inference-router listening on ${apiUrl}`;
    },
  });
