import { StartFault, whole } from '@svc/runtime';
import { z } from 'zod';
import { tokenMechanism } from './kafka/broker-token.js';
import { brokerTls } from './kafka/broker-tls.js';
import type { TopicTerms } from './kafka/create-topics.js';
import type { KafkaConnection } from './kafka/kafka-client.js';

/** Settings of every process that publishes or consumes events on Kafka. */
export const kafkaConfig = {
  KAFKA_BROKERS: z
    .string()
    .regex(/^[^\s,:]+:\d+(,[^\s,:]+:\d+)*$/, 'must be host:port entries, separated by commas')
    .describe('Kafka brokers: `host:port` entries, separated by commas; a subset is enough'),
  KAFKA_TLS: z.stringbool().default(false).describe('Whether to connect to the brokers with TLS'),
  KAFKA_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      "A PEM file with the certificates of the authority that signed the brokers' certificates; if unset, the authorities known to Node.js",
    ),
  KAFKA_CERT_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A PEM file with the certificate by which this process authenticates to the brokers (mTLS), with its chain; read for each connection',
    ),
  KAFKA_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('A PEM file with the private key of KAFKA_CERT_FILE, unencrypted'),
  KAFKA_USERNAME: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The user name for the brokers, or the id of the client at KAFKA_OAUTH_TOKEN_URL; if unset, no authentication by password',
    ),
  KAFKA_PASSWORD: z
    .string()
    .min(1)
    .optional()
    .describe('The password of KAFKA_USERNAME, or the secret of the client'),
  KAFKA_SASL: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'])
    .default('scram-sha-512')
    .describe('The SASL mechanism that authenticates the user, or the token'),
  KAFKA_OAUTH_TOKEN_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'With `oauthbearer`, the OAuth 2.0 token endpoint, where a process gets tokens by client credentials',
    ),
  KAFKA_OAUTH_SCOPE: z.string().min(1).optional().describe('The scope of these tokens'),
  KAFKA_OAUTH_TOKEN_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'With `oauthbearer`, a file with the token instead, such as that of a service account; read for each connection',
    ),
};

/** Settings of the command that creates the topics. */
export const topicsConfig = {
  ...kafkaConfig,
  KAFKA_PARTITIONS: whole(1, 1_000)
    .default(12)
    .describe('Partitions of each topic, which the processes of a service divide among themselves'),
  KAFKA_REPLICAS: whole(1, 100).default(1).describe('Replicas of each partition'),
  KAFKA_MIN_INSYNC_REPLICAS: whole(1, 100)
    .default(1)
    .describe('Replicas that must have an event before it counts as stored; usually 2 of 3'),
  KAFKA_RETENTION_DAYS: whole(1, 3_650).default(7).describe('How long events are kept'),
};

type KafkaConfig = z.infer<z.ZodObject<typeof kafkaConfig>>;
type TopicsConfig = z.infer<z.ZodObject<typeof topicsConfig>>;

const TLS_FILES = ['KAFKA_CA_FILE', 'KAFKA_CERT_FILE', 'KAFKA_KEY_FILE'] as const;

/** Builds the broker connection from the settings. */
export function kafkaConnection(config: KafkaConfig): KafkaConnection {
  const sasl = saslOf(config);
  const file = TLS_FILES.find((name) => config[name] !== undefined);
  if (file !== undefined && !config.KAFKA_TLS) throw new StartFault(`${file}: requires KAFKA_TLS=true`);
  return {
    brokers: config.KAFKA_BROKERS.split(','),
    ...(config.KAFKA_TLS && { ssl: file === undefined ? true : brokerTls(config) }),
    ...(sasl && { sasl }),
  };
}

/** Builds the topic terms from the settings. */
export const topicTerms = (config: TopicsConfig): TopicTerms => ({
  partitions: config.KAFKA_PARTITIONS,
  replicas: config.KAFKA_REPLICAS,
  minInSyncReplicas: config.KAFKA_MIN_INSYNC_REPLICAS,
  retentionDays: config.KAFKA_RETENTION_DAYS,
});

type Sasl = NonNullable<KafkaConnection['sasl']>;

const TOKEN_SETTINGS = ['KAFKA_OAUTH_TOKEN_URL', 'KAFKA_OAUTH_SCOPE', 'KAFKA_OAUTH_TOKEN_FILE'] as const;

function saslOf(config: KafkaConfig): Sasl | undefined {
  const { KAFKA_USERNAME: username, KAFKA_PASSWORD: password = '', KAFKA_SASL: mechanism } = config;
  if (mechanism === 'oauthbearer') return tokenMechanism(config);
  const unused = TOKEN_SETTINGS.find((name) => config[name] !== undefined);
  if (unused !== undefined) throw new StartFault(`${unused}: requires KAFKA_SASL=oauthbearer`);
  if (username === undefined) return undefined;
  switch (mechanism) {
    case 'plain':
      return { mechanism, username, password };
    case 'scram-sha-256':
      return { mechanism, username, password };
    case 'scram-sha-512':
      return { mechanism, username, password };
  }
}
