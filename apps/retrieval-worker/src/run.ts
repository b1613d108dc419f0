import 'reflect-metadata';
import { LastGoodOfGateways, openCatalog } from '@svc/catalog';
import { type Environment, runProcess } from '@svc/runtime';
import { retrievalWorkerConfig } from './retrieval-worker.config.js';
import { RetrievalWorkerModule } from './retrieval-worker.module.js';

/** Serves file extraction, web search and page reading to the other processes. */
export const run = (env: Environment): Promise<void> =>
  runProcess(env, {
    settings: retrievalWorkerConfig,
    start: async (starting) => {
      const { config, serve } = starting;
      const lastGood = new LastGoodOfGateways(config.GATEWAY_URL, config.GATEWAY_TOKEN);
      const catalog = await openCatalog(config, starting, { lastGood });
      const { apiUrl } = await serve({ module: RetrievalWorkerModule.with(config, catalog, env) });
      return `retrieval-worker listening on ${apiUrl}`;
    },
  });
