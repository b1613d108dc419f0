// Values of a release on a cluster.
import { EXTERNAL } from '../chart.mjs';

const TOKEN = 'x'.repeat(32);

/** Secrets that exist before the release. */
export const SECRETS = {
  tokens: { 'internal-token': TOKEN, 'operator-token': TOKEN },
  postgres: { uri: 'postgres://svc:secret@postgres:5432/svc' },
  redis: { url: 'redis://redis:6379' },
};

/** Secrets created by the servers' operators, and two that an administrator creates. */
export const OF_OPERATORS = {
  'svc-tokens': SECRETS.tokens,
  'svc-redis': SECRETS.redis,
  'svc-data-postgres-app': SECRETS.postgres,
  'svc-data-cluster-ca-cert': { 'ca.crt': 'certificate' },
  svc: { password: 'secret' },
};

/** A ConfigMap that an administrator creates. */
export const CATALOG = { catalog: { 'catalog.yaml': 'models: []' } };

/** Connections that the release stores in its own Secrets, and that hooks need before those exist. */
export const OWN = {
  ...EXTERNAL,
  postgres: { url: SECRETS.postgres.uri },
  redis: { url: SECRETS.redis.url },
  tokens: {},
};

/** A change that replaces every pod. */
export const withReason = (values, reason) => ({
  ...values,
  defaults: { ...values.defaults, podAnnotations: { reason } },
});
