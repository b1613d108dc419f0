import { describe, expect, it } from 'vitest';
import { ALL, CHART, EXTERNAL, renderText } from './chart.mjs';
import { EXTENDED } from './extensions.mjs';
import { SCHEMAS, tool } from './tools.mjs';

const CONFIG = `${CHART}/../../test/kube-linter.yaml`;

/** Enables everything at once, so that every template is checked. */
const EVERYTHING = {
  postgres: { url: 'postgres://svc:secret@postgres/svc', maxConnections: 1_000 },
  redis: { url: 'redis://redis:6379' },
  kafka: {
    brokers: 'kafka:9093',
    tls: true,
    caSecret: { name: 'kafka-ca' },
    username: 'svc',
    password: 'secret',
  },
  image: { pullSecrets: [{ name: 'registry' }] },
  catalog: { content: 'models: []' },
  characters: { content: 'characters: []' },
  backends: { existingSecret: 'model-servers' },
  browser: { enabled: true },
  ingress: { enabled: true, className: 'nginx', hosts: ['api.example'] },
  httpRoute: { enabled: true, hostnames: ['api.example'], parentRefs: [{ name: 'public' }] },
  networkPolicy: { operators: [{ podSelector: {} }] },
  prometheusRule: { enabled: true, labels: { release: 'prometheus' } },
  dashboards: { enabled: true },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  priorityClass: { create: true, value: 1_000_000 },
  defaults: {
    autoscaling: { enabled: true },
    podAnnotations: { team: 'inference' },
    tolerations: [{ key: 'spot', operator: 'Exists' }],
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
  },
  keda: { prometheusUrl: 'http://prometheus:9090' },
  services: {
    'billing-ledger': { autoscaling: { kafkaLag: 10_000 } },
    'inference-router': { autoscaling: { activeRequests: 400 } },
    'api-gateway': { persistence: { enabled: true, storageClass: 'fast' } },
  },
};

const CASES = [
  ['the minimum values', EXTERNAL],
  ['everything enabled', EVERYTHING],
  ['one process', ALL],
  ['every extension point', EXTENDED],
];

describe.each(CASES)('with %s', (_what, values) => {
  it('the chart passes `helm lint`', async () => {
    const said = await tool('helm', ['lint', CHART, '--strict', '--values', '-'], JSON.stringify(values));
    expect(said).toContain('0 chart(s) failed');
  });

  it('every object is valid for Kubernetes, without unknown members', async () => {
    const location = `${SCHEMAS}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
    const args = ['-strict', '-summary', '-schema-location', location];
    expect(await tool('kubeconform', args, await renderText(values))).toContain(
      'Invalid: 0, Errors: 0, Skipped: 0',
    );
  });

  it('kube-linter finds no fault', async () => {
    const said = await tool('kube-linter', ['lint', '--config', CONFIG, '-'], await renderText(values));
    expect(said).toContain('No lint errors');
  });
});

it('kubeconform reports a misspelt member', async () => {
  const text = (await renderText(EXTERNAL)).replace('livenessProbe', 'livenesProbe');
  const location = `${SCHEMAS}/{{ .ResourceKind }}{{ .KindSuffix }}.json`;
  await expect(tool('kubeconform', ['-strict', '-schema-location', location], text)).rejects.toThrow(
    'livenesProbe',
  );
});

it('kube-linter reports a pod that may write to its root', async () => {
  const text = (await renderText(EXTERNAL)).replaceAll(
    'readOnlyRootFilesystem: true',
    'readOnlyRootFilesystem: false',
  );
  await expect(tool('kube-linter', ['lint', '-'], text)).rejects.toThrow('no-read-only-root-fs');
});

it('kube-linter reports a secret in a variable', async () => {
  const text = (await renderText(EXTERNAL)).replaceAll('name: LEDGER_MIGRATE', 'name: LEDGER_SECRET');
  await expect(tool('kube-linter', ['lint', '--config', CONFIG, '-'], text)).rejects.toThrow(
    'secret-in-variable',
  );
});
