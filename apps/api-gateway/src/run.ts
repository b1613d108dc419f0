import 'reflect-metadata';
import { openCatalog, openCharacters } from '@svc/catalog';
import { LastGoodStore } from '@svc/gateway';
import { type Environment, NeighbourWatch, anyIsReady, runProcess } from '@svc/runtime';
import { openPool } from '@svc/storage';
import { apiGatewayConfig } from './api-gateway.config.js';
import { ApiGatewayModule } from './api-gateway.module.js';

/** The public API and the operator's. */
export const run = (env: Environment): Promise<void> =>
  runProcess(env, {
    settings: apiGatewayConfig,
    start: async (starting) => {
      const { config, logger, readiness } = starting;
      const database = openPool({
        url: config.DATABASE_URL,
        maxConnections: config.DATABASE_CONNECTIONS,
        logger,
      });
      const lastGood = new LastGoodStore(database);
      const catalog = await openCatalog(config, starting, { lastGood });
      const characters = await openCharacters(config, starting, { lastGood });
      const watch = new NeighbourWatch(readiness);
      watch.add('ledger', () => anyIsReady(config.LEDGER_URL));
      watch.add('router', () => anyIsReady(config.ROUTER_URL));
      const { apiUrl, operatorUrl } = await starting.serve({
        module: ApiGatewayModule.with({ config, catalog, characters, database, logger }),
        operator: { host: config.HOST, port: config.OPERATOR_PORT },
        events: ApiGatewayModule.events,
        ...(config.GATEWAY_TRUSTED_PROXIES !== '' && { trustedProxies: config.GATEWAY_TRUSTED_PROXIES }),
        proxyListen: config.GATEWAY_PROXY_LISTEN,
        connectionsPerAddress: config.GATEWAY_CONNECTIONS_PER_ADDRESS,
        corsOrigins: config.GATEWAY_CORS_ORIGINS,
      });
      // Stops before the database is closed.
      starting.undo(() => watch.stop());
      // All gateways share the database: if an outage made them all unready, requests with cached keys would
      // fail too.
      watch.add('database', () => database.query('SELECT 1'), { forStartOnly: true });
      return `api-gateway listening on ${apiUrl}, for the operator on ${operatorUrl}`;
    },
  });
