import { readFile, readdir } from 'node:fs/promises';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { EXTERNAL, Release, SERVICES } from './chart.mjs';

const folder = new URL('..', import.meta.url);
let release;

beforeAll(async () => {
  const enabled = { enabled: true };
  release = await Release.of({
    ...EXTERNAL,
    serviceMonitor: enabled,
    prometheusRule: enabled,
    dashboards: enabled,
  });
});

it('every service is read with the token of metrics, where it serves them', () => {
  for (const name of SERVICES) {
    const { selector, endpoints } = release.get('ServiceMonitor', name).spec;
    const service = release.get('Service', name);
    expect(service.metadata.labels).toMatchObject(selector.matchLabels);
    expect(service.spec.ports.map((port) => port.name)).toContain(endpoints[0].port);
    expect(endpoints[0]).toMatchObject({
      port: name === 'api-gateway' ? 'operator' : 'http',
      path: '/metrics',
      authorization: { credentials: { name: 'tokens', key: 'metrics-token' } },
    });
  }
});

it('every alert and every dashboard is there as it is written', async () => {
  const rules = parse(await readFile(new URL('alerts/svc.rules.yml', folder), 'utf8'));
  expect(release.get('PrometheusRule', 'rules').spec).toEqual(rules);
  const names = await readdir(new URL('dashboards', folder));
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) {
    const text = await readFile(new URL(`dashboards/${name}`, folder), 'utf8');
    const { data, metadata } = release.get('ConfigMap', `dashboard-${name.replace('.json', '')}`);
    expect(JSON.parse(data[name])).toEqual(JSON.parse(text));
    expect(metadata.labels).toMatchObject({ grafana_dashboard: '1' });
  }
});
