import { beforeAll, describe, expect, it } from 'vitest';
import { EXTERNAL, Release, SERVICES, renderText } from './chart.mjs';
import { mayReach, ours } from './network.mjs';

const STORAGE = {
  url: 'https://s3.example',
  bucket: 'svc-media',
  existingSecret: { name: 'media', secretAccessKey: 'secret' },
};
const of = (over) => Release.of({ ...EXTERNAL, ...over, mediaStorage: { ...STORAGE, ...over.mediaStorage } });

describe('videos and music', () => {
  let release;
  beforeAll(async () => {
    release = await of({ serviceMonitor: { enabled: true } });
  });

  const reach = (from, to, ports) => mayReach(release, { from: ours(release, from), to, ports });

  it('are refused without a bucket: no media worker runs, and no gateway has its address', async () => {
    const without = await Release.of();
    expect(without.pod('media-worker')).toBeUndefined();
    expect(without.environment('api-gateway')).not.toHaveProperty('MEDIA_JOBS_URL');
    expect(JSON.stringify(without.objects)).not.toContain('MEDIA_S3');
  });

  it('are made by a media worker with a Service, a disruption budget and a monitor, which gateways call', () => {
    const kinds = ['Deployment', 'Service', 'PodDisruptionBudget', 'NetworkPolicy', 'ServiceMonitor'];
    expect(kinds.filter((kind) => !release.find(kind, 'media-worker'))).toEqual([]);
    const [{ port }] = release.get('Service', 'media-worker').spec.ports;
    expect(release.environment('api-gateway').MEDIA_JOBS_URL).toBe(`http://svc-media-worker:${port}`);
  });

  it('have their keys from a Secret, in the media worker only', () => {
    const having = release.pods().filter(({ spec }) => JSON.stringify(spec).includes('"media"'));
    expect(having.map(({ name }) => name)).toEqual(['media-worker']);
    const { env } = release.pod('media-worker').spec.containers[0];
    expect(env).toContainEqual({
      name: 'MEDIA_S3_SECRET_ACCESS_KEY',
      valueFrom: { secretKeyRef: { name: 'media', key: 'secret' } },
    });
    expect(release.environment('media-worker')).toMatchObject({
      MEDIA_S3_URL: 'https://s3.example',
      MEDIA_S3_BUCKET: 'svc-media',
    });
  });

  it('are reached by gateways only', () => {
    const worker = ours(release, 'media-worker');
    expect(SERVICES.filter((from) => reach(from, worker, ['http', 3007]))).toEqual(['api-gateway']);
    const called = SERVICES.filter((to) => {
      const [{ containerPort }] = release.pod(to).spec.containers[0].ports;
      return reach('media-worker', ours(release, to), ['http', containerPort]);
    });
    expect(called).toEqual(['inference-router', 'billing-ledger']);
  });

  it('are stored at public addresses, or with peers only at these', async () => {
    const [outside, own] = [{ address: '93.184.215.14' }, { address: '10.1.2.3' }];
    expect(reach('media-worker', outside, [443])).toBe(true);
    expect(reach('media-worker', own, [9000])).toBe(false);
    const peered = await of({ mediaStorage: { peers: [{ ipBlock: { cidr: '10.1.2.3/32' } }] } });
    const from = ours(peered, 'media-worker');
    expect(mayReach(peered, { from, to: outside, ports: [443] })).toBe(false);
    expect(mayReach(peered, { from, to: own, ports: [9000] })).toBe(true);
  });

  it('have no keys with workloadIdentity, whose agent the media worker alone may reach', async () => {
    const annotations = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/media' };
    const keyless = await of({
      serviceAccount: { annotations },
      mediaStorage: { existingSecret: { name: '' }, workloadIdentity: true },
    });
    expect(JSON.stringify(keyless.pod('media-worker'))).not.toContain('MEDIA_S3_SECRET_ACCESS_KEY');
    expect(keyless.all('ServiceAccount').map(({ metadata }) => metadata.annotations)).toContainEqual(
      annotations,
    );
    const agent = { to: { address: '169.254.170.23' }, ports: [80] };
    const reaching = SERVICES.filter((name) => mayReach(keyless, { from: ours(keyless, name), ...agent }));
    expect(reaching).toEqual([]);
    expect(mayReach(keyless, { from: ours(keyless, 'media-worker'), ...agent })).toBe(true);
    expect(mayReach(release, { from: ours(release, 'media-worker'), ...agent })).toBe(false);
  });

  it('have URLs for clients only with the address of the bucket for them', async () => {
    expect(release.environment('media-worker')).not.toHaveProperty('MEDIA_S3_PUBLIC_URL');
    const shown = await of({ mediaStorage: { publicUrl: 'https://media.example' } });
    expect(shown.environment('media-worker').MEDIA_S3_PUBLIC_URL).toBe('https://media.example');
  });

  it.each([
    ['mediaStorage.url', { url: '' }],
    ['mediaStorage.existingSecret.name or mediaStorage.workloadIdentity', { existingSecret: { name: '' } }],
  ])('with a bucket and without %s are refused, by this name', async (name, over) => {
    await expect(renderText({ ...EXTERNAL, mediaStorage: { ...STORAGE, ...over } })).rejects.toThrow(name);
  });
});
