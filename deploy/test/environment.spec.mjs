import { loadConfig } from '@svc/runtime';
import { expect, it } from 'vitest';
import { COMMANDS, settingsOf } from '../../tools/processes.mjs';
import { ALL, EXTERNAL, Release, SERVICES, SETTINGS } from './chart.mjs';

/** The Secrets that an operator creates. */
const SECRETS = {
  DATABASE_URL: 'postgres://svc:secret@postgres:5432/svc',
  REDIS_URL: 'redis://:secret@redis:6379',
  KAFKA_PASSWORD: 'secret',
  X402_EVM_RPC_URL: 'https://node.example',
  X402_SOLANA_RPC_URL: 'https://solana.example',
};

const GIVEN = {
  ...EXTERNAL,
  kafka: {
    ...EXTERNAL.kafka,
    tls: true,
    caSecret: { name: 'kafka-ca' },
    username: 'svc',
    existingSecret: { name: 'kafka' },
  },
  catalog: { content: 'models: []' },
  characters: { existingConfigMap: 'characters' },
  payments: { existingSecret: 'payments' },
  browser: { enabled: true },
  mediaStorage: { url: 'https://s3.example', bucket: 'media', existingSecret: { name: 'media' } },
  tls: { caSecret: { name: 'authorities' } },
};

/** Read by Node; not settings. */
const OF_NODE = 'NODE_EXTRA_CA_CERTS';

async function configOf(release, name) {
  const settings = COMMANDS[name] ?? (await settingsOf(name));
  const { [OF_NODE]: _authorities, ...env } = release.environment(name, SECRETS);
  for (const variable of Object.keys(env))
    expect(settings, `${name} has no ${variable}`).toHaveProperty(variable);
  return loadConfig(settings, env);
}

it.each([
  ['the minimum values', EXTERNAL],
  ['all optional values', GIVEN],
  ['every service in one process', ALL],
])('with %s, every process accepts its environment and knows every variable in it', async (_what, values) => {
  const release = await Release.of(values);
  const processes = release.pods().filter(({ name }) => name in SETTINGS);
  expect(processes.length).toBeGreaterThan(0);
  for (const { name } of processes) await configOf(release, name);
});

it('a process listens on the port of its Service and its probes', async () => {
  const release = await Release.of();
  for (const name of SERVICES) {
    const { spec } = release.get('Service', name);
    const { HOST, PORT, OPERATOR_PORT } = await configOf(release, name);
    expect(HOST).toBe('0.0.0.0');
    const ports = Object.fromEntries(spec.ports.map((one) => [one.name, one.port]));
    expect([ports.http, ports.operator]).toEqual([PORT, OPERATOR_PORT]);
  }
});

it('a process has the addresses of the other services, which are Services of the release', async () => {
  const release = await Release.of();
  const config = await configOf(release, 'api-gateway');
  for (const variable of ['LEDGER_URL', 'LIMITER_URL', 'ROUTER_URL', 'RETRIEVAL_URL', 'PAYMENTS_URL']) {
    const { hostname, port } = new URL(config[variable]);
    const service = release.get('Service', hostname.replace('svc-', ''));
    expect(service.spec.clusterIP).toBe(variable === 'ROUTER_URL' ? 'None' : undefined);
    expect(service.spec.ports.map((one) => String(one.port))).toContain(port);
  }
});

it.each([
  ['inference-router', 'ROUTER_SIMULATOR_URL'],
  ['retrieval-worker', 'RETRIEVAL_SIMULATOR_URL'],
])('%s has the address of the model simulator in a trial', async (name, variable) => {
  const release = await Release.of();
  const { hostname, port } = new URL((await configOf(release, name))[variable]);
  const { spec } = release.get('Service', hostname.replace('svc-', ''));
  expect(spec.ports.map((one) => String(one.port))).toEqual([port]);
  const catalog = { content: 'models: []' };
  const own = await Release.of({ ...EXTERNAL, simulator: {}, catalog });
  expect(own.environment(name)).not.toHaveProperty(variable);
  expect(own.find('Deployment', 'model-simulator')).toBeUndefined();
  const elsewhere = { [name]: { settings: { [variable]: 'http://127.0.0.1:4001' } } };
  const other = await Release.of({ ...EXTERNAL, services: elsewhere });
  expect(other.environment(name)[variable]).toBe('http://127.0.0.1:4001');
});

it('no process has the address of x402-payments if payments are disabled', async () => {
  const release = await Release.of({ ...EXTERNAL, services: { 'x402-payments': { enabled: false } } });
  expect(release.environment('api-gateway')).not.toHaveProperty('PAYMENTS_URL');
});

it('settings of a service take precedence over those for all', async () => {
  const release = await Release.of({
    ...EXTERNAL,
    defaults: { settings: { SVC_LOG_LEVEL: 'warn' } },
    services: { 'api-gateway': { settings: { SVC_LOG_LEVEL: 'debug', GATEWAY_KEEP_ALIVE_MS: 5000 } } },
  });
  expect(await configOf(release, 'api-gateway')).toMatchObject({
    SVC_LOG_LEVEL: 'debug',
    GATEWAY_KEEP_ALIVE_MS: 5000,
  });
  expect(await configOf(release, 'rate-limiter')).toMatchObject({ SVC_LOG_LEVEL: 'warn' });
});

it('large numbers are written without an exponent', async () => {
  const services = { 'inference-router': { settings: { ROUTER_STREAM_LIMIT_BYTES: 1_073_741_824 } } };
  const release = await Release.of({ ...EXTERNAL, services });
  expect(release.environment('inference-router').ROUTER_STREAM_LIMIT_BYTES).toBe('1073741824');
});

it('secrets are never in the environment of a pod', async () => {
  const secret = 'a-secret-of-nobody-else';
  const release = await Release.of({
    simulator: EXTERNAL.simulator,
    postgres: { url: `postgres://svc:${secret}@postgres/svc` },
    redis: { url: `redis://:${secret}@redis:6379` },
    kafka: { brokers: 'kafka:9092', username: 'svc', password: secret },
  });
  const elsewhere = release.objects.filter(({ kind }) => kind !== 'Secret');
  expect(JSON.stringify(elsewhere)).not.toContain(secret);
  expect(release.get('Secret', 'connections').stringData).toEqual({
    postgres: `postgres://svc:${secret}@postgres/svc`,
    redis: `redis://:${secret}@redis:6379`,
    kafka: secret,
  });
});

it('a process can read the tokens of its own callers and of the services that it calls, and no others', async () => {
  const release = await Release.of(GIVEN);
  const names = [...SERVICES, 'media-worker'];
  const calls = {};
  for (const name of names) {
    const [{ env }] = release.pod(name).spec.containers;
    const urls = env.map(({ name: variable, value = '' }) => (variable === 'OPERATOR_URL' ? '' : value));
    const called = names.filter((other) =>
      urls.some((url) => new RegExp(`^http://svc-${other}(-unready|-pods)?:`).test(url)),
    );
    const own = [name, 'internal', 'metrics', ...(name === 'api-gateway' ? ['operator'] : [])];
    const expected = [
      ...new Set([...own, ...called, 'internal']).values().map((each) => `${each}-token`),
      ...own.map((each) => `${each}-token-second`),
      ...(name === 'api-gateway' ? ['webhook-key', 'webhook-key-second'] : []),
    ];
    const keys = env.flatMap(({ valueFrom }) =>
      valueFrom?.secretKeyRef.name === 'tokens' ? [valueFrom.secretKeyRef.key] : [],
    );
    expect([name, new Set(keys)]).toEqual([name, new Set(expected)]);
    calls[name] = called;
  }
  expect(calls['api-gateway']).toHaveLength(6);
  // The catalogue.
  expect(calls['retrieval-worker']).toEqual(['api-gateway']);
});

it('only gateways have the mail server, and its password from a Secret', async () => {
  const mail = {
    host: 'smtp.example.com',
    port: 465,
    tls: 'tls',
    from: 'svc@example.com',
    username: 'svc',
    existingSecret: { name: 'smtp' },
  };
  const release = await Release.of({ ...EXTERNAL, mail });
  const ofMail = (name) =>
    release.pod(name).spec.containers[0].env.filter((each) => each.name.startsWith('GATEWAY_SMTP_'));
  expect(ofMail('api-gateway').map(({ name, value, valueFrom }) => [name, value ?? valueFrom])).toEqual([
    ['GATEWAY_SMTP_FROM', 'svc@example.com'],
    ['GATEWAY_SMTP_HOST', 'smtp.example.com'],
    ['GATEWAY_SMTP_PASSWORD', { secretKeyRef: { name: 'smtp', key: 'password' } }],
    ['GATEWAY_SMTP_PORT', '465'],
    ['GATEWAY_SMTP_TLS', 'tls'],
    ['GATEWAY_SMTP_USER', 'svc'],
  ]);
  expect(ofMail('inference-router')).toEqual([]);
  const ports = (name) =>
    release
      .get('NetworkPolicy', name)
      .spec.egress.flatMap((rule) => rule.ports ?? [])
      .map(({ port }) => port);
  expect(ports('api-gateway')).toContain(465);
  expect(ports('inference-router')).not.toContain(465);
});
