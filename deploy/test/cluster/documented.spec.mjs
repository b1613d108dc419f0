// Runs the documentation's Helm commands as written, on the control plane.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documented } from '../documented.mjs';
import { Cluster, Installed } from './cluster.mjs';
import { PodProcess } from './pod-process.mjs';
import { CATALOG, OF_OPERATORS, SECRETS } from './values.mjs';

const COMMANDS = (await documented())
  .map(([, command]) => command)
  .filter((command) => !command.includes('charts/data'));
const INSTALLS = [...new Set(COMMANDS.filter((command) => / install /.test(command)))];
const production = INSTALLS.find((command) => command.includes('prod.yaml'));
const upgrade = COMMANDS.find((command) => / upgrade /.test(command));
const rollback = COMMANDS.find((command) => / rollback /.test(command));
const defaults = INSTALLS.find((command) => !/--values|postgres/.test(command));
const PROMETHEUS = 'github.com/prometheus-operator/prometheus-operator';
const namespaceOf = (command) => /^helm -n (\S+)/.exec(command)?.[1] ?? 'default';

let cluster;

beforeAll(async () => {
  cluster = await Cluster.start();
  await cluster.makeKinds(PROMETHEUS, ['servicemonitors', 'prometheusrules']);
  await cluster.makeVolumes(12);
  const connections = { postgres: SECRETS.postgres.uri, redis: SECRETS.redis.url };
  // Production uses a Secret that other releases create themselves.
  const { 'svc-tokens': _tokens, ...others } = OF_OPERATORS;
  await cluster.makeNamespace('svc', { ...others, 'svc-data': connections }, CATALOG);
});

afterAll(() => cluster?.stop());

const uninstall = (namespace) => cluster.helm(namespace, ['uninstall', 'svc', '--wait', '--timeout', '10m']);

it('production is installed, upgraded, tested and rolled back', async () => {
  const release = new Installed(cluster, 'svc');
  const tokens = { metadata: { name: 'svc-tokens' }, stringData: OF_OPERATORS['svc-tokens'] };
  await cluster.api.create('/api/v1/namespaces/svc/secrets', tokens);
  expect(await cluster.shell(production)).toContain('STATUS: deployed');
  expect(
    await cluster.shell(upgrade.replace(' --values', ' --set defaults.podAnnotations.reason=new --values')),
  ).toContain('REVISION: 2');
  await cluster.shell('helm -n svc test svc');
  const [before] = await release.deployments();
  expect(before.spec.template.metadata.annotations.reason).toBe('new');
  await cluster.shell(rollback);
  const [after] = await release.deployments();
  expect(after.spec.template.metadata.annotations).not.toHaveProperty('reason');
  expect((await release.revisions()).at(-1)).toMatchObject({ status: 'deployed' });
  await uninstall('svc');
  await cluster.api.ask('DELETE', '/api/v1/namespaces/svc/secrets/svc-tokens');
});

it.each(INSTALLS.filter((command) => ![production, defaults].includes(command)))('%s', async (command) => {
  expect(await cluster.shell(command)).toContain('STATUS: deployed');
  await uninstall(namespaceOf(command));
});

describe('the default values', () => {
  let all;
  const addresses = {};

  beforeAll(async () => {
    await cluster.shell(defaults);
    await cluster.helm('default', ['test', 'svc', '--timeout', '8m']);
    all = await new PodProcess(cluster.api, 'default').start('svc-all-0');
    await all.ready();
    addresses['svc-all:3000'] = `127.0.0.1:${all.ports.http}`;
    addresses['svc-all:3001'] = `127.0.0.1:${all.ports.operator}`;
  });

  afterAll(() => all?.stop());

  it('create a pod whose process reads the catalogue in its ConfigMap, and whose test pays for a response', async () => {
    const test = await new PodProcess(cluster.api, 'default', addresses).start('svc-test');
    expect(await test.ended).toBe(0);
    expect(test.output).toContain('the books say the same');
    await test.stop();
  });

  it('print a first key, which pays for the request in the notes', async () => {
    const [, key] = /API key\s+(\S+)/.exec(all.output);
    const response = await fetch(`http://${addresses['svc-all:3000']}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'default', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(response.status).toBe(200);
    expect((await response.json()).cost.usd).toBeGreaterThan(0);
  });

  it('are upgraded and rolled back by one command', async () => {
    const release = new Installed(cluster, 'default');
    await cluster.shell(
      `${defaults.replace(' install ', ' upgrade ')} --set defaults.podAnnotations.reason=new`,
    );
    const reason = async () => (await release.pods('all')).map(({ metadata }) => metadata.annotations.reason);
    expect(await reason()).toEqual(['new']);
    await cluster.helm('default', ['rollback', 'svc', '1', '--wait', '--timeout', '12m']);
    expect(await reason()).toEqual([undefined]);
    expect((await release.revisions()).at(-1)).toMatchObject({ status: 'deployed' });
  });

  it('do not replace the catalogue of a release by that of the repository', async () => {
    const own = { catalog: { content: 'models: [{ id: m, backends: [{ url: http://m, model: m }] }]' } };
    const image = { image: { repository: 'registry.example/svc' } };
    await cluster.makeNamespace('own-models');
    const release = new Installed(cluster, 'own-models');
    await release.install({ ...image, ...own });
    await expect(release.upgrade(image)).rejects.toThrow('this upgrade has no catalogue');
    await release.upgrade({ ...image, ...own });
  });

  it('are refused as an upgrade of a release of six services', async () => {
    await cluster.shell(INSTALLS.find((command) => command.includes('kafka.brokers')));
    const empty =
      'helm -n svc upgrade svc deploy/charts/platform --set image.repository=registry.example/svc';
    await expect(cluster.shell(empty)).rejects.toThrow('one process with an empty database');
  });
});
