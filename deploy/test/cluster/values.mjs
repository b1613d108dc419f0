// What a release on a cluster is given.
import { EXTERNAL } from '../chart.mjs';

const TOKEN = 'x'.repeat(32);

/** Secrets that are there before it. */
export const SECRETS = {
  tokens: { 'internal-token': TOKEN, 'operator-token': TOKEN },
  postgres: { uri: 'postgres://svc:secret@postgres:5432/svc' },
  redis: { url: 'redis://redis:6379' },
};

/** What operators of servers make, and the two that nobody makes. */
export const OF_OPERATORS = {
  'svc-tokens': SECRETS.tokens,
  'svc-redis': SECRETS.redis,
  'svc-data-postgres-app': SECRETS.postgres,
  'svc-data-cluster-ca-cert': { 'ca.crt': 'certificate' },
  svc: { password: 'secret' },
};

/** Connections that the release keeps in Secrets of its own, which hooks need before those are there. */
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
