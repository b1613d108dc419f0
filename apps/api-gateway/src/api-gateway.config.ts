import { catalogConfig, charactersConfig } from '@svc/catalog';
import { kafkaConfig } from '@svc/events';
import { gatewayConfig } from '@svc/gateway';
import { ledgerClientConfig } from '@svc/ledger';
import { limiterClientConfig } from '@svc/limiter';
import { imagesConfig } from '@svc/media';
import { mediaJobsClientConfig } from '@svc/media-jobs';
import { paymentsClientConfig } from '@svc/payments';
import { retrievalClientConfig } from '@svc/retrieval';
import { routerClientConfig } from '@svc/router';
import { SECRET_LENGTH, internalTokens, poolSettings, port, processConfig, redisUrl } from '@svc/runtime';
import { z } from 'zod';

/** Settings of the process that serves the public API and the operator's. */
export const apiGatewayConfig = {
  ...gatewayConfig,
  ...imagesConfig,
  ...ledgerClientConfig,
  ...limiterClientConfig,
  ...mediaJobsClientConfig,
  ...paymentsClientConfig,
  ...retrievalClientConfig,
  ...routerClientConfig,
  ...kafkaConfig,
  ...processConfig({ name: 'api-gateway', port: 3000 }),
  ...catalogConfig,
  ...charactersConfig,
  OPERATOR_PORT: port.default(3001).describe("The port of the operator's API; 0 selects a free port"),
  SVC_OPERATOR_TOKEN: z.string().min(SECRET_LENGTH).describe("The operator's token"),
  ...internalTokens({
    accepts: 'GATEWAY',
    sends: ['LEDGER', 'LIMITER', 'RETRIEVAL', 'ROUTER'],
    maySend: ['MEDIA_JOBS', 'PAYMENTS'],
  }),
  ...poolSettings('accounts and keys'),
  REDIS_URL: redisUrl,
};

export type ApiGatewayConfig = z.infer<z.ZodObject<typeof apiGatewayConfig>>;
