// Stops each dependency of a cluster under load, and reports which alerts fire, after how long, and how long
// until they resolve: `npm run drill`, or `npm run drill -- Kafka ledger` for drills with these words
// in their name. Does not wait for alerts that look back for an hour or more. Needs the build, and prometheus
// on the PATH.
import { setTimeout as sleep } from 'node:timers/promises';
import { KINDS } from '@svc/cluster';
import { LocalChain } from '@svc/infra';
import { startObservedCluster } from './harness.ts';

const OPERATOR_TOKEN = 'operator-token-of-the-drill-of-alerts';
const AWAY_MS = 150_000;
const QUIET_MS = 240_000;
const CLIENTS = 4;

const say = (text) => process.stderr.write(`… ${text}\n`);
const seconds = (sinceMs) => Math.round((performance.now() - sinceMs) / 1_000);

const models = [
  {
    id: 'sound',
    name: 'Sound',
    tier: 'XS',
    contextTokens: 131_072,
    maxCompletionTokens: 8_192,
    pricing: { input: 0.15, output: 0.6 },
    backends: [{ kind: 'simulator', model: 'test-model' }],
  },
  {
    id: 'clip',
    name: 'Clip',
    type: 'video',
    tier: 'XS',
    constraints: { durations: ['5s'], resolutions: ['480p'], aspectRatios: ['16:9'] },
    pricing: { perSecond: { '480p': 0.002 } },
    backends: [{ kind: 'simulator', model: 'clip;delay-ms=5000' }],
  },
];
const tiers = { XS: { standard: { requestsPerMinute: 100_000, tokensPerMinute: 1_000_000_000 } } };
const search = { providers: [{ kind: 'simulator' }] };
say('starting');
const harness = await startObservedCluster({ models, tiers, search }, OPERATOR_TOKEN);
const { cluster, infra, prometheus, apiUrl, operatorUrl } = harness;

async function operator(path, body) {
  const response = await fetch(`${operatorUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}

const { id } = await operator('/accounts', { name: 'drill' });
await operator(`/accounts/${id}/credits`, { usd: '100.00', reference: 'drill' });
const { apiKey } = await operator(`/accounts/${id}/api_keys`, { apiKeyType: 'INFERENCE', description: '' });

const over = new AbortController();
const statuses = new Map();

/** The status of the response, or `none`. */
function statusOf(path, body) {
  return fetch(`${apiUrl}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  })
    .then(async (response) => (await response.text(), response.status))
    .catch(() => 'none');
}

async function client(at) {
  // One of them includes a web search.
  const web = at === 0 ? { svc_parameters: { enable_web_search: 'on' } } : {};
  while (!over.signal.aborted) {
    const messages = [{ role: 'user', content: 'hi' }];
    const status = await statusOf('chat/completions', { model: 'sound', stream: true, messages, ...web });
    statuses.set(status, 1 + (statuses.get(status) ?? 0));
    await sleep(100);
  }
}
/** Orders videos, whose responses are not counted. */
async function ordering() {
  const body = { model: 'clip', prompt: 'A cat', duration: '5s', aspect_ratio: '16:9', resolution: '480p' };
  while (!over.signal.aborted) {
    await statusOf('video/queue', body);
    await sleep(1_000);
  }
}
const clients = [ordering(), ...Array.from({ length: CLIENTS }, (_, at) => client(at))];

async function firing() {
  const response = await fetch(`${prometheus.url}/api/v1/alerts`);
  const { data } = await response.json();
  return new Set(
    data.alerts
      .filter(({ state }) => state === 'firing')
      .map(({ labels }) => `${labels.alertname} (${labels.severity})`),
  );
}

/** The outages, and how each one ends. */
const server = (variable) => infra.servers.find((one) => one.variable === variable);
const killedServer = (name, variable) => ({
  name: `${name}, killed`,
  away: () => server(variable).kill(),
  back: () => server(variable).start(),
});
/** The cluster restarts processes that exit, so they are killed repeatedly. */
function killed(kind) {
  let end = () => undefined;
  return {
    name: `${kind}, killed`,
    away: () => {
      const timer = setInterval(() => {
        for (const { pid } of cluster.replicas(kind)) if (pid) process.kill(pid, 'SIGKILL');
      }, 500);
      end = () => clearInterval(timer);
    },
    back: () => end(),
  };
}
const hang = (kind) => ({
  name: `${kind}, frozen`,
  away: () => cluster.replicas(kind).forEach((one) => process.kill(one.pid, 'SIGSTOP')),
  back: () => cluster.replicas(kind).forEach((one) => process.kill(one.pid, 'SIGCONT')),
});
/** Deletes a service as Kubernetes does: its processes end and are no longer targets of Prometheus. */
function removed(kind) {
  const { away, back } = killed(kind);
  return {
    name: `${kind}, deleted`,
    away: async () => {
      await prometheus.scrape(cluster.metrics.filter((one) => one.job !== KINDS[kind].app));
      away();
    },
    back: async () => {
      back();
      await prometheus.scrape(cluster.metrics);
    },
  };
}
const deployment = {
  name: 'deployment, deleted',
  away: () => prometheus.scrape([]),
  back: () => prometheus.scrape(cluster.metrics),
};
let { chain } = harness;
const node = {
  name: 'chain node, killed',
  away: () => chain.stop(),
  back: async () => (chain = await LocalChain.start({ port: Number(new URL(chain.url).port) })),
};
const all = [
  killedServer('Redis', 'REDIS_URL'),
  killedServer('Kafka', 'KAFKA_BROKERS'),
  killedServer('PostgreSQL', 'DATABASE_URL'),
  node,
  ...['simulator', 'ledger', 'retrieval', 'media'].map(killed),
  ...['simulator', 'ledger', 'router', 'limiter', 'retrieval', 'media', 'gateway'].map(hang),
  ...['router', 'limiter', 'gateway'].map(killed),
  ...['ledger', 'router', 'limiter', 'retrieval', 'media', 'gateway'].map(removed),
  deployment,
];
const wanted = process.argv.slice(2);
const drills = all.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)));

const statusCounts = () => [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');

async function rowOf({ name, away, back }) {
  const before = await firing();
  statuses.clear();
  say(`${name}; firing before: ${[...before].join(', ') || 'nothing'}`);
  const first = new Map();
  const startMs = performance.now();
  await away();
  while (performance.now() - startMs < AWAY_MS) {
    for (const alert of await firing())
      if (!before.has(alert) && !first.has(alert)) first.set(alert, seconds(startMs));
    await sleep(500);
  }
  const answers = statusCounts();
  await back();
  const backMs = performance.now();
  // Burn rates look back for longer than this.
  const quiet = new Map();
  const awaited = [...first.keys()].filter((alert) => !/Burn/.test(alert));
  while (quiet.size < awaited.length && performance.now() - backMs < QUIET_MS) {
    const now = await firing();
    for (const alert of awaited) if (!now.has(alert) && !quiet.has(alert)) quiet.set(alert, seconds(backMs));
    await sleep(500);
  }
  const firedAfter = (alert) => (quiet.has(alert) ? `${quiet.get(alert)} s` : 'later');
  const rows = [...first].map(
    ([alert, after], at) =>
      `| ${at === 0 ? name : ''} | ${at === 0 ? answers : ''} | ${alert} | ${after} s | ${firedAfter(alert)} |`,
  );
  return rows.length > 0 ? rows.join('\n') : `| ${name} | ${answers} | none | | |`;
}

const rows = [];
try {
  await sleep(30_000);
  for (const drill of drills) {
    rows.push(await rowOf(drill));
    say(rows.at(-1));
  }
} finally {
  process.stdout.write(
    `| Down for ${AWAY_MS / 1_000} s | Responses by status | Alert | Fires after | Resolves after |\n|---|---|---|---|---|\n${rows.join('\n')}\n`,
  );
  over.abort();
  await Promise.all(clients);
  await chain.stop();
  await harness.stop();
}
