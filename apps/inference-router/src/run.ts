import 'reflect-metadata';
import { LastGoodOfGateways, openCatalog } from '@svc/catalog';
import { type Environment, openSecrets, runProcess } from '@svc/runtime';
import { inferenceRouterConfig } from './inference-router.config.js';
import { InferenceRouterModule } from './inference-router.module.js';

/** Serves the router to the other processes. */
export const run = (env: Environment): Promise<void> =>
  runProcess(env, {
    settings: inferenceRouterConfig,
    start: async (starting) => {
      const { config, serve } = starting;
      const secret = await openSecrets(config.ROUTER_SECRETS_DIR, starting);
      const lastGood = new LastGoodOfGateways(config.GATEWAY_URL, config.GATEWAY_TOKEN);
      const catalog = await openCatalog(config, starting, { lastGood, secret });
      const { apiUrl } = await serve({ module: InferenceRouterModule.with({ ...config, secret }, catalog) });
      return `inference-router listening on ${apiUrl}`;
    },
  });
