import { catalogConfig, gatewayUrl } from '@svc/catalog';
import { retrievalConfig } from '@svc/retrieval';
import { internalTokens, processConfig, redisUrl } from '@svc/runtime';
import { z } from 'zod';

/**
 * Settings of the process that reads files and searches the web. It logs no calls, since the gateway logs
 * each request.
 */
export const retrievalWorkerConfig = {
  ...retrievalConfig,
  ...processConfig({ name: 'retrieval-worker', port: 3004, logLevel: 'warn' }),
  ...catalogConfig,
  ...gatewayUrl,
  RETRIEVAL_PRIVATE_HOSTS: z
    .string()
    .default('')
    .describe(
      'Exceptions to the ban on private addresses: web pages may be read from these `host:port` entries, separated by commas, even though they are loopback, private or link-local. Anyone with an API key can then read what these hosts serve',
    ),
  REDIS_URL: redisUrl
    .optional()
    .describe(
      'The Redis server, or nodes of a Redis Cluster separated by commas, or Sentinels as for the rate-limiter, in which processes share cached search results; if unset, each process has its own cache',
    ),
  ...internalTokens({ accepts: 'RETRIEVAL', maySend: ['GATEWAY'] }),
};

export type RetrievalWorkerConfig = z.infer<z.ZodObject<typeof retrievalWorkerConfig>>;
