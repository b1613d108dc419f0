import { beforeAll, describe, expect, it } from 'vitest';
import { EXTERNAL, Release, SERVICES, renderText } from './chart.mjs';
import { EXTENDED, POD } from './extensions.mjs';

let release;
let extended;

beforeAll(async () => {
  release = await Release.of({ ...EXTERNAL, browser: { enabled: true } });
  extended = await Release.of(EXTENDED);
});

const JOBS = ['catalog', 'migrate', 'topics', 'first-account'];
const WORKLOADS = [...SERVICES, 'browser', 'model-simulator', ...JOBS, 'test'];

const mapValues = (object, change) =>
  Object.fromEntries(Object.keys(object).map((key) => [key, change(key)]));

/** The path of each workload's values. */
const valuesFor = (name, own) => {
  switch (name) {
    case 'browser':
      return { browser: { enabled: true, ...own } };
    case 'model-simulator':
      return { simulator: { enabled: true, ...own } };
    case 'catalog':
      return { catalogCheck: own };
    case 'first-account':
      return { firstAccount: own };
    case 'migrate':
      return { migrations: own };
    case 'topics':
      return { kafka: { ...EXTERNAL.kafka, topics: own } };
    case 'test':
      return { test: own };
    default:
      return { services: { [name]: own } };
  }
};

describe('every workload', () => {
  it('is covered by these tests', () => {
    expect(
      extended
        .pods()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(WORKLOADS.toSorted());
  });

  it.each(WORKLOADS)('%s gets the extensions in `defaults`', (name) => {
    const { metadata, spec } = extended.pod(name);
    const [main] = spec.containers;
    expect(metadata.labels).toMatchObject(POD.podLabels);
    expect(metadata.annotations).toMatchObject(POD.podAnnotations);
    const { nodeSelector, tolerations, affinity, serviceAccountName } = POD;
    expect(spec).toMatchObject({ nodeSelector, tolerations, affinity, serviceAccountName });
    expect(spec.volumes).toEqual(expect.arrayContaining(POD.extraVolumes));
    expect(main.volumeMounts).toEqual(expect.arrayContaining(POD.extraVolumeMounts));
    expect(main.env).toEqual(expect.arrayContaining(POD.extraEnv));
    expect(main.envFrom).toEqual(expect.arrayContaining(POD.envFrom));
    expect(main.securityContext).toEqual({
      ...release.pod(name).spec.containers[0].securityContext,
      ...POD.securityContext,
    });
    expect(spec.topologySpreadConstraints).toMatchObject(POD.topologySpreadConstraints);
  });

  it.each(WORKLOADS)('%s keeps its own settings, variables and volumes when extensions are added', (name) => {
    const [before, after] = [release, extended].map((one) => one.pod(name));
    expect(after.metadata.labels).toMatchObject(before.metadata.labels);
    const { env = [], volumeMounts = [] } = before.spec.containers[0];
    const [main] = after.spec.containers;
    expect(main.env.map((one) => one.name)).toEqual(expect.arrayContaining(env.map((one) => one.name)));
    expect(main.volumeMounts).toEqual(expect.arrayContaining(volumeMounts));
    expect(after.spec.containers).toHaveLength(before.spec.containers.length);
  });

  it.each(WORKLOADS)('%s starts sidecars before its process and ends them after it', (name) => {
    const { initContainers } = extended.pod(name).spec;
    expect(initContainers.map((one) => [one.name, one.restartPolicy])).toEqual([
      ['prepare', undefined],
      ['relay', 'Always'],
    ]);
  });

  it.each(WORKLOADS)('%s leaves its user and groups to the cluster if they are null', (name) => {
    expect(release.pod(name).spec.securityContext).toMatchObject({ runAsUser: 1000, fsGroup: 1000 });
    expect(extended.pod(name).spec.securityContext).toEqual({
      runAsNonRoot: true,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
      supplementalGroups: [4000],
    });
  });

  it.each(WORKLOADS)('%s has its own values: maps merged, lists replaced, null removed', async (name) => {
    const own = {
      extraEnv: [{ name: 'ONLY', value: 'here' }],
      podSecurityContext: { runAsUser: null, fsGroup: 2000 },
      podLabels: { mine: 'yes' },
      tolerations: [],
      topologySpreadConstraints: [],
    };
    const defaults = { extraEnv: POD.extraEnv, podLabels: POD.podLabels, tolerations: POD.tolerations };
    const given = await Release.of({
      ...EXTERNAL,
      browser: { enabled: true },
      defaults,
      ...valuesFor(name, own),
    });
    const { metadata, spec } = given.pod(name);
    const variables = spec.containers[0].env.map((one) => one.name);
    expect([variables.includes('ONLY'), variables.includes('REGION')]).toEqual([true, false]);
    expect(metadata.labels).toMatchObject({ ...POD.podLabels, mine: 'yes' });
    expect(spec.securityContext).toMatchObject({ runAsGroup: 1000, fsGroup: 2000 });
    expect(spec.securityContext).not.toHaveProperty('runAsUser');
    expect(spec).not.toHaveProperty('tolerations');
    expect(spec).not.toHaveProperty('topologySpreadConstraints');
    const others = given.pods().filter((pod) => pod.name !== name);
    for (const other of others) {
      expect(other.metadata.labels).not.toHaveProperty('mine');
      expect(other.spec.securityContext.runAsUser).toBe(1000);
      expect(other.spec.tolerations).toEqual(POD.tolerations);
    }
  });
});

it('null removes an extension', async () => {
  const given = await Release.of({ ...EXTERNAL, defaults: mapValues(POD, () => null) });
  for (const { metadata, spec } of given.pods()) {
    expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/instance': 'svc' });
    for (const part of ['securityContext', 'tolerations', 'topologySpreadConstraints', 'initContainers'])
      expect(spec).not.toHaveProperty(part);
    expect(spec.containers[0]).not.toHaveProperty('securityContext');
  }
});

it('a variable of extraEnv replaces the one that the chart sets by the same name', async () => {
  const own = { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'ledger-role', key: 'uri' } } };
  const given = await Release.of({ ...EXTERNAL, services: { 'billing-ledger': { extraEnv: [own] } } });
  const { env } = given.pod('billing-ledger').spec.containers[0];
  expect(env.filter(({ name }) => name === 'DATABASE_URL')).toEqual([own]);
});

it('labels and annotations of a pod cannot replace those of the chart', async () => {
  const podLabels = { 'app.kubernetes.io/component': 'other', 'app.kubernetes.io/instance': 'other' };
  const given = await Release.of({ ...EXTERNAL, defaults: { podLabels } });
  const { spec } = given.get('Deployment', 'rate-limiter');
  expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
});

it('a spread constraint without a labelSelector counts the pods of its workload, of any version', () => {
  for (const name of SERVICES) {
    const { selector, template } = release.get('Deployment', name).spec;
    for (const { labelSelector, matchLabelKeys } of template.spec.topologySpreadConstraints)
      expect([labelSelector, matchLabelKeys]).toEqual([selector, ['pod-template-hash']]);
  }
});

it.each([
  ['defaults', { defaults: { extraVolume: [] } }, 'extraVolume'],
  ['a service', { services: { 'api-gateway': { podLabel: {} } } }, 'podLabel'],
  ['the browser', { browser: { sidecar: [] } }, 'sidecar'],
  ['the migration', { migrations: { toleration: [] } }, 'toleration'],
  ['the topics', { kafka: { ...EXTERNAL.kafka, topics: { initContainer: [] } } }, 'initContainer'],
  ['the test', { test: { extraEnvs: [] } }, 'extraEnvs'],
  ['a variable', { defaults: { extraEnv: [{ name: 'A', values: 'b' }] } }, 'values'],
  ['a source of variables', { defaults: { envFrom: [{ secretref: { name: 'a' } }] } }, 'secretref'],
  ['a Service', { defaults: { service: { kind: 'LoadBalancer' } } }, 'kind'],
  ['the type of a Service', { defaults: { service: { type: 'Loadbalancer' } } }, 'type'],
  ['an update', { defaults: { updateStrategy: { rollingUpdate: { partitions: 1 } } } }, 'partitions'],
  ['the account', { serviceAccount: { annotation: {} } }, 'annotation'],
  ['an authority', { tls: { caBundle: { name: 'a' } } }, 'caBundle'],
  ['an Ingress', { ingress: { tls: [{ secret: 'a' }] } }, 'secret'],
])('refuses a misspelt extension point of %s', async (_what, values, word) => {
  await expect(renderText({ ...EXTERNAL, ...values })).rejects.toThrow(word);
});

describe('a certificate authority', () => {
  const fileOf = (name, file) => {
    const { containers, volumes } = extended.pod(name).spec;
    const mount = containers[0].volumeMounts.find(({ mountPath }) => file.startsWith(`${mountPath}/`));
    const volume = volumes.find((one) => one.name === mount?.name);
    const { items } = volume?.secret ?? volume?.configMap ?? {};
    const source = volume?.secret?.secretName ?? volume?.configMap?.name;
    return items?.some(({ path }) => file === `${mount.mountPath}/${path}`) ? source : undefined;
  };

  it('for all connections is trusted by Node in every process of the platform', () => {
    for (const name of [...SERVICES, 'migrate', 'topics'])
      expect([name, fileOf(name, extended.environment(name).NODE_EXTRA_CA_CERTS)]).toEqual([
        name,
        'authorities',
      ]);
    expect(release.environment('billing-ledger')).not.toHaveProperty('NODE_EXTRA_CA_CERTS');
  });

  it('for PostgreSQL is a file that the URL can name, in each process that has the URL', () => {
    for (const { name } of extended.pods()) {
      const has = extended.pod(name).spec.containers[0].env.some((one) => one.name === 'DATABASE_URL');
      expect([name, fileOf(name, '/etc/svc/postgres/ca.crt')]).toEqual([
        name,
        has ? 'postgres-ca' : undefined,
      ]);
    }
  });

  it('for Kafka may be in a ConfigMap', () => {
    for (const name of ['api-gateway', 'billing-ledger', 'topics'])
      expect(fileOf(name, extended.environment(name).KAFKA_CA_FILE)).toBe('kafka-ca');
  });
});

describe('the Service', () => {
  it('for outside the cluster has only the public port, and the annotations', () => {
    const { metadata, spec } = extended.get('Service', 'api-gateway-public');
    expect(metadata.annotations).toEqual({ 'example.com/mesh': 'on', 'example.com/scheme': 'internal' });
    expect(spec).toMatchObject({
      type: 'LoadBalancer',
      loadBalancerClass: 'example.com/nlb',
      loadBalancerSourceRanges: ['192.0.2.0/24'],
      externalTrafficPolicy: 'Local',
    });
    expect(spec.ports.map(({ port }) => port)).toEqual([3000]);
    expect(extended.pod('api-gateway').metadata.labels).toMatchObject(spec.selector);
  });

  it('for inside the cluster keeps its type and the operator port', () => {
    const { metadata, spec } = extended.get('Service', 'api-gateway');
    expect([spec.type, metadata.annotations]).toEqual([undefined, undefined]);
    expect(spec.ports.map(({ port }) => port)).toEqual([3000, 3001]);
    expect(extended.get('Service', 'rate-limiter').metadata.annotations).toEqual({
      'example.com/mesh': 'on',
    });
  });

  it('without a type is the only one, beside those of gateways that are not ready and of the pods of routers', () => {
    const names = release.all('Service').map(({ metadata }) => metadata.name);
    const those = [...SERVICES, 'api-gateway-unready', 'browser', 'inference-router-pods', 'model-simulator'];
    expect(names.toSorted()).toEqual(those.map((name) => `svc-${name}`).toSorted());
  });
});

it('the ServiceAccount has the configured annotations', () => {
  const [account] = extended.all('ServiceAccount');
  expect(account.metadata.annotations).toEqual({ 'example.com/role': 'svc' });
});

it('an Ingress has a rule for each host, and the certificates', () => {
  const { spec } = extended.get('Ingress', 'api-gateway');
  expect(spec.rules.map(({ host, http }) => [host, http.paths[0].backend.service.name])).toEqual([
    ['api.example', 'svc-api-gateway'],
    ['api.example.org', 'svc-api-gateway'],
  ]);
  expect(spec.tls).toEqual(EXTENDED.ingress.tls);
  expect(extended.get('HTTPRoute', 'api-gateway').spec.hostnames).toEqual(EXTENDED.httpRoute.hostnames);
});

it('extraObjects are templates, given as maps or strings', () => {
  expect(extended.get('ConfigMap', 'map').data).toEqual({ host: 'api.example' });
  expect(extended.get('ConfigMap', 'text').data).toEqual({ a: 'b' });
});

it('a StatefulSet has the configured management policy and update strategy', () => {
  const { podManagementPolicy, updateStrategy } = extended.get('StatefulSet', 'api-gateway').spec;
  expect(podManagementPolicy).toBe('OrderedReady');
  expect(updateStrategy).toEqual({ type: 'RollingUpdate', rollingUpdate: { partition: 1 } });
});
