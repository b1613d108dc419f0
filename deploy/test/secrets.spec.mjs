// Tests the checksum of the Secrets that a process reads. Helm looks them up in the cluster, here a fake one
// with only Secrets.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ALL, CHART, EXTERNAL, Release, SERVICES } from './chart.mjs';
import { tool } from './tools.mjs';

const VALUES = {
  ...EXTERNAL,
  kafka: { ...EXTERNAL.kafka, username: 'svc', existingSecret: { name: 'kafka' } },
  backends: { existingSecret: 'model-servers' },
  search: { existingSecret: 'providers' },
  payments: { existingSecret: 'payments' },
};
const SECRETS = {
  tokens: { 'internal-token': 'i', 'operator-token': 'o', 'metrics-token': 'm' },
  postgres: { uri: 'p' },
  redis: { url: 'r' },
  kafka: { password: 'k' },
  'model-servers': { KEY: 'b' },
  providers: { KEY: 's' },
  payments: { 'signer-key': 'e' },
};

const GROUPS = {
  v1: ['ConfigMap', 'PersistentVolumeClaim', 'Pod', 'Secret', 'Service', 'ServiceAccount'],
  'apps/v1': ['Deployment', 'StatefulSet'],
  'batch/v1': ['Job'],
  'networking.k8s.io/v1': ['NetworkPolicy'],
  'policy/v1': ['PodDisruptionBudget'],
};
const pluralOf = (kind) => `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
const kindsOf = (groupVersion) => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion,
  resources: GROUPS[groupVersion].map((kind) => ({
    kind,
    name: pluralOf(kind),
    singularName: '',
    namespaced: true,
    verbs: ['get', 'list', 'create', 'patch'],
  })),
});
const groups = Object.keys(GROUPS)
  .filter((name) => name.includes('/'))
  .map((groupVersion) => {
    const [name, version] = groupVersion.split('/');
    return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } };
  });

/** The metadata by which Helm recognizes an object as part of the release. */
const OURS = {
  labels: { 'app.kubernetes.io/managed-by': 'Helm' },
  annotations: { 'meta.helm.sh/release-name': 'svc', 'meta.helm.sh/release-namespace': 'platform' },
};

let secrets;
/** The checksums of a release with these Secrets in the cluster. */
let before;
const documents = new Map([
  ['/version', { major: '1', minor: '36', gitVersion: 'v1.36.0' }],
  ['/api', { kind: 'APIVersions', versions: ['v1'] }],
  ['/apis', { kind: 'APIGroupList', apiVersion: 'v1', groups }],
  ...Object.keys(GROUPS).map((name) => [name === 'v1' ? '/api/v1' : `/apis/${name}`, kindsOf(name)]),
]);

function found(path) {
  const [, name] = /^\/api\/v1\/namespaces\/platform\/secrets\/([\w-]+)$/.exec(path) ?? [];
  if (name === undefined || !secrets[name]) return documents.get(path);
  const data = Object.entries(secrets[name]).map(([key, value]) => [
    key,
    Buffer.from(value).toString('base64'),
  ]);
  return { kind: 'Secret', apiVersion: 'v1', metadata: { name, ...OURS }, data: Object.fromEntries(data) };
}

const server = createServer((request, response) => {
  const body = found(new URL(request.url, 'http://cluster').pathname);
  const missing = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
  response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body ?? missing));
});
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  before = checksums(await releaseWith({}));
});
afterAll(() => server.close());

/** The release, rendered by Helm with these Secrets in the cluster. */
async function releaseWith(changes, values = VALUES) {
  secrets = { ...SECRETS, ...changes };
  const url = `http://127.0.0.1:${server.address().port}`;
  const args = ['template', 'svc', CHART, '--namespace', 'platform', '--dry-run=server', '--values', '-'];
  const text = await tool(
    'helm',
    [...args, '--disable-openapi-validation', '--kube-apiserver', url],
    JSON.stringify(values),
  );
  const objects = parseAllDocuments(text, { logLevel: 'error' }).map((document) => document.toJS());
  return new Release(objects.filter((object) => object !== null));
}

const checksums = (release) =>
  Object.fromEntries(
    SERVICES.map((name) => [name, release.pod(name).metadata.annotations['checksum/secrets']]),
  );

/** The services whose pods are replaced by a change. */
async function replacedBy(changes) {
  const after = checksums(await releaseWith(changes));
  return SERVICES.filter((name) => before[name] !== after[name]);
}

const { tokens } = SECRETS;
const [gateway, router, ledger, limiter, retrieval, payments] = SERVICES;

describe('a changed Secret replaces only the pods that read it', () => {
  it.each([
    ['nothing', {}, []],
    [
      'a token of the ledger',
      { tokens: { ...tokens, 'billing-ledger-token': 'l' } },
      [gateway, ledger, payments],
    ],
    [
      'a token of the retrieval worker',
      { tokens: { ...tokens, 'retrieval-worker-token': 'r' } },
      [gateway, retrieval],
    ],
    [
      'a second token of the router',
      { tokens: { ...tokens, 'inference-router-token-second': 'r' } },
      [router],
    ],
    ['internal token', { tokens: { ...tokens, 'internal-token': 'other' } }, SERVICES],
    ['second internal token', { tokens: { ...tokens, 'internal-token-second': 'other' } }, SERVICES],
    ['second operator token', { tokens: { ...tokens, 'operator-token-second': 'other' } }, [gateway]],
    ['second metrics token', { tokens: { ...tokens, 'metrics-token-second': 'other' } }, SERVICES],
    ['PostgreSQL', { postgres: { uri: 'other' } }, [gateway, ledger, payments]],
    ['Redis', { redis: { url: 'other' } }, [gateway, ledger, limiter, retrieval, payments]],
    ['Kafka', { kafka: { password: 'other' } }, [gateway, ledger]],
    ['backends, whose keys are read again', { 'model-servers': { KEY: 'other' } }, []],
    ['search', { providers: { KEY: 'other' } }, [retrieval]],
    ['payments', { payments: { 'signer-key': 'other' } }, [payments]],
  ])('%s', async (_secret, changes, services) => {
    expect(await replacedBy(changes)).toEqual(services);
  });
});

describe('tokens that the release creates', () => {
  const own = { ...VALUES, tokens: {} };

  it('are kept by an upgrade, including the second ones of a rotation, and do not replace pods', async () => {
    const installed = await releaseWith({}, own);
    const made = installed.get('Secret', 'tokens').data;
    const plain = Object.fromEntries(
      Object.entries(made).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
    const upgraded = await releaseWith({ 'svc-tokens': plain }, own);
    expect(upgraded.get('Secret', 'tokens').data).toEqual(made);
    expect(checksums(upgraded)).toEqual(checksums(installed));

    const rotated = await releaseWith(
      { 'svc-tokens': { ...plain, 'billing-ledger-token-second': 'second' } },
      own,
    );
    expect(rotated.get('Secret', 'tokens').data).toEqual({
      ...made,
      'billing-ledger-token-second': Buffer.from('second').toString('base64'),
    });
  });

  it('are one for each service, all different, and none for all of them', async () => {
    const { data } = (await releaseWith({}, own)).get('Secret', 'tokens');
    const services = [gateway, ledger, router, 'media-worker', limiter, retrieval, payments];
    expect(Object.keys(data).toSorted()).toEqual(
      ['webhook-key', ...['metrics', 'operator', ...services].map((name) => `${name}-token`)].toSorted(),
    );
    expect(new Set(Object.values(data)).size).toBe(10);
  });

  it('remain one for all services in a release that has one, whose running pods would refuse others', async () => {
    const before = { 'internal-token': 'i', 'operator-token': 'o', 'metrics-token': 'm' };
    const keysWith = async (more) =>
      Object.keys(
        (await releaseWith({ 'svc-tokens': { ...before, ...more } }, own)).get('Secret', 'tokens').data,
      );
    const made = [...Object.keys(before), 'webhook-key'];
    expect(await keysWith({})).toEqual(made.toSorted());
    const added = { 'billing-ledger-token': 'i', 'billing-ledger-token-second': 'l' };
    expect(await keysWith(added)).toEqual([...made, ...Object.keys(added)].toSorted());
  });
});

it.each([
  ['inference-router', {}],
  ['all', ALL],
])('mounts the API keys of backends as a folder that %s reads again', async (name, values) => {
  const given = await Release.of({ ...EXTERNAL, ...values, backends: { existingSecret: 'model-servers' } });
  const { spec } = given.pod(name);
  expect(spec.volumes).toContainEqual({
    name: 'backends',
    secret: { secretName: 'model-servers', defaultMode: 0o440 },
  });
  const { mountPath, subPath } = spec.containers[0].volumeMounts.find(({ name: of }) => of === 'backends');
  // A file that is mounted by its path does not follow changes of the Secret.
  expect([subPath, given.environment(name).ROUTER_SECRETS_DIR]).toEqual([undefined, mountPath]);
});
