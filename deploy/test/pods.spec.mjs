import { usageRecorded } from '@svc/contracts/messages';
import { beforeAll, describe, expect, it } from 'vitest';
import { ALL, EXTERNAL, Release, SERVICES } from './chart.mjs';

let release;
let single;
let browsing;

beforeAll(async () => {
  release = await Release.of();
  single = await Release.of(ALL);
  browsing = await Release.of({ ...EXTERNAL, browser: { enabled: true } });
});

describe('every pod', () => {
  it('meets the Pod Security standard "restricted", with a read-only root', () => {
    for (const { spec } of [...browsing.pods(), ...single.pods()]) {
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const { securityContext } of spec.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('has a memory limit, and a CPU request without a limit', () => {
    for (const { spec } of [...browsing.pods(), ...single.pods()]) {
      for (const { resources } of spec.containers) {
        expect(resources.limits.memory).toBeTruthy();
        expect(resources.limits.cpu).toBeUndefined();
        expect(Object.keys(resources.requests)).toEqual(['cpu', 'memory']);
      }
    }
  });

  it('runs node directly, so that it receives signals', () => {
    for (const { name, spec } of release.pods())
      expect([name, spec.containers[0].command[0]]).toEqual([name, 'node']);
  });
});

describe('a service', () => {
  it('has a startup probe with time to start, a liveness probe of itself, and a readiness probe of its dependencies', () => {
    for (const name of SERVICES) {
      const [container] = release.pod(name).spec.containers;
      expect(container.startupProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
      expect(container.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
      expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
    }
    const [ledger] = release.pod('billing-ledger').spec.containers;
    expect(ledger.startupProbe.failureThreshold * ledger.startupProbe.periodSeconds).toBe(600);
  });

  it('is killed only after the preStop wait, the drain time and 30 s for closing', () => {
    for (const name of SERVICES) {
      const { spec } = release.pod(name);
      const waitSeconds = spec.containers[0].lifecycle.preStop.sleep.seconds;
      const drainMs = Number(release.environment(name).SVC_DRAIN_MS);
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(waitSeconds + drainMs / 1000 + 30);
    }
  });

  it('gives streams five minutes to finish in the gateway and the router', () => {
    for (const name of ['api-gateway', 'inference-router'])
      expect(release.environment(name).SVC_DRAIN_MS).toBe('300000');
  });

  it('is replaced one pod at a time, without fewer replicas in between', () => {
    for (const name of SERVICES)
      expect(release.get('Deployment', name).spec.strategy.rollingUpdate).toEqual({
        maxSurge: 1,
        maxUnavailable: 0,
      });
  });

  it('loses at most one replica at a time to evictions', () => {
    for (const name of SERVICES) {
      const { spec } = release.get('PodDisruptionBudget', name);
      expect(spec.maxUnavailable).toBe(1);
      expect(release.pod(name).metadata.labels).toMatchObject(spec.selector.matchLabels);
    }
  });

  it('is spread over zones and nodes', () => {
    for (const name of SERVICES) {
      const spread = release.pod(name).spec.topologySpreadConstraints;
      expect(spread.map(({ topologyKey }) => topologyKey)).toEqual([
        'topology.kubernetes.io/zone',
        'kubernetes.io/hostname',
      ]);
      for (const { labelSelector } of spread)
        expect(release.pod(name).metadata.labels).toMatchObject(labelSelector.matchLabels);
    }
  });

  it('leaves the number of replicas to its autoscaler', async () => {
    const services = { 'api-gateway': { autoscaling: { enabled: true, min: 3 } } };
    const scaled = await Release.of({ ...EXTERNAL, services });
    expect(scaled.get('Deployment', 'api-gateway').spec).not.toHaveProperty('replicas');
    expect(scaled.get('HorizontalPodAutoscaler', 'api-gateway').spec).toMatchObject({
      scaleTargetRef: { kind: 'Deployment', name: 'svc-api-gateway' },
      minReplicas: 3,
      maxReplicas: 10,
    });
    expect(scaled.all('HorizontalPodAutoscaler')).toHaveLength(1);
  });

  it('is scaled by KEDA if it is scaled by more than CPU time', async () => {
    const scaled = await Release.of({
      ...EXTERNAL,
      keda: { prometheusUrl: 'http://prometheus:9090', kafkaAuthentication: 'kafka' },
      services: {
        'api-gateway': { autoscaling: { enabled: true, max: 5, activeRequests: 400, streams: 200 } },
        'billing-ledger': { autoscaling: { enabled: true, max: 2, kafkaLag: 10_000, queuedJobs: 20 } },
      },
    });
    expect(scaled.all('HorizontalPodAutoscaler')).toEqual([]);
    const [, requests, streams] = scaled.get('ScaledObject', 'api-gateway').spec.triggers;
    expect(streams.metadata).toMatchObject({
      query: 'sum(svc_gateway_streams{namespace="platform",job="svc-api-gateway"})',
      threshold: '200',
    });
    expect(requests.metadata).toMatchObject({
      query: 'sum(http_server_active_requests{namespace="platform",job="svc-api-gateway"})',
      threshold: '400',
    });
    const { scaleTargetRef, triggers } = scaled.get('ScaledObject', 'billing-ledger').spec;
    expect(scaleTargetRef).toMatchObject({ kind: 'Deployment', name: 'svc-billing-ledger' });
    const [cpu, jobs, lag] = triggers;
    expect([cpu, jobs, lag].map(({ type }) => type)).toEqual(['cpu', 'prometheus', 'kafka']);
    expect(jobs.metadata.query).toContain('job="svc-billing-ledger",svc_job_state="waiting"');
    expect(jobs.metadata.threshold).toBe('20');
    expect(lag).toMatchObject({
      metadata: {
        bootstrapServers: EXTERNAL.kafka.brokers,
        topic: usageRecorded.topic,
        lagThreshold: '10000',
      },
      authenticationRef: { name: 'kafka' },
    });
    const { consumerGroup } = lag.metadata;
    expect(consumerGroup).toBe(`ledger.${usageRecorded.topic}`);
  });

  it('has a checksum of its Secrets in its template, so that a changed Secret replaces its pods', async () => {
    const changed = await Release.of({ ...EXTERNAL, redis: { url: 'redis://other:6379' } });
    const checksumOf = (one) => one.pod('rate-limiter').metadata.annotations['checksum/secrets'];
    expect(checksumOf(changed)).not.toBe(checksumOf(release));
  });

  it('is pulled by its digest if one is set', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const pinned = await Release.of({
      ...EXTERNAL,
      image: { repository: 'registry.example/svc', tag: 'v1', digest },
    });
    for (const { spec } of pinned.pods())
      expect(spec.containers[0].image).toBe(`registry.example/svc@${digest}`);
  });
});

it('callers of the router get the addresses of its pods that are ready, at their own port', async () => {
  const given = await Release.of({ ...EXTERNAL, services: { 'inference-router': { replicas: 3 } } });
  const { spec } = given.get('Service', 'inference-router-pods');
  expect(spec).toMatchObject({
    clusterIP: 'None',
    selector: given.get('Service', 'inference-router').spec.selector,
  });
  expect(spec).not.toHaveProperty('publishNotReadyAddresses');
  const [{ containerPort }] = given.pod('inference-router').spec.containers[0].ports;
  expect(spec.ports).toEqual([
    { name: 'http', port: containerPort, targetPort: 'http', appProtocol: 'http' },
  ]);
  expect(given.environment('api-gateway').ROUTER_URL).toBe(
    `http://svc-inference-router-pods:${containerPort}`,
  );
});

describe('a volume', () => {
  it('makes the gateway a StatefulSet whose journal outlives its pods', async () => {
    const services = { 'api-gateway': { persistence: { enabled: true } } };
    const journaled = await Release.of({ ...EXTERNAL, services });
    expect(journaled.find('Deployment', 'api-gateway')).toBeUndefined();
    const { spec } = journaled.get('StatefulSet', 'api-gateway');
    expect(spec.persistentVolumeClaimRetentionPolicy).toEqual({
      whenDeleted: 'Retain',
      whenScaled: 'Retain',
    });
    expect(journaled.environment('api-gateway').LEDGER_JOURNAL_DIR).toBe('/var/lib/svc/journal');
    expect(spec.template.spec.containers[0].volumeMounts).toContainEqual({
      name: 'data',
      mountPath: '/var/lib/svc',
    });
  });

  it('contains all data of the single process, which has one replica and needs no server', () => {
    const { spec } = single.get('StatefulSet', 'all');
    expect(spec.replicas).toBe(1);
    expect(single.environment('all').SVC_DATA_DIR).toBe('/var/lib/svc/data');
    expect(single.pods().map(({ name }) => name)).toEqual(['all', 'test', 'catalog']);
  });
});

describe('the catalogue', () => {
  it('is mounted as the folder of a ConfigMap, so that changes reach running pods', async () => {
    const content = 'models: []\n# {{ not a template }}\n';
    const given = await Release.of({
      ...EXTERNAL,
      catalog: { content },
      characters: { existingConfigMap: 'mine' },
    });
    expect(given.get('ConfigMap', 'catalog').data).toEqual({ 'catalog.yaml': content });
    for (const name of ['api-gateway', 'inference-router']) {
      const { spec } = given.pod(name);
      expect(given.environment(name).SVC_CATALOG).toBe('/etc/svc/catalog/catalog.yaml');
      const mount = spec.containers[0].volumeMounts.find((one) => one.name === 'catalog');
      expect(mount).toEqual({ name: 'catalog', mountPath: '/etc/svc/catalog', readOnly: true });
    }
    const names = given.pod('api-gateway').spec.volumes.map(({ configMap }) => configMap?.name);
    expect(names).toEqual([undefined, 'svc-catalog', 'mine']);
    expect(given.environment('rate-limiter')).not.toHaveProperty('SVC_CATALOG');
  });

  it('is read from gateways that are not ready, since they wait for routers, by what starts with a broken file', async () => {
    const given = await Release.of();
    const { spec } = given.get('Service', 'api-gateway-unready');
    expect(spec).toMatchObject({ publishNotReadyAddresses: true, ports: [{ name: 'http', port: 3000 }] });
    expect(spec.selector).toEqual(given.get('Service', 'api-gateway').spec.selector);
    for (const name of ['inference-router', 'retrieval-worker'])
      expect(given.environment(name).GATEWAY_URL).toBe('http://svc-api-gateway-unready:3000');
    for (const name of ['billing-ledger', 'rate-limiter'])
      expect(given.environment(name)).not.toHaveProperty('GATEWAY_URL');
  });

  it('has the API keys of its backends in the router only, and those of its search providers in the retrieval worker only', async () => {
    const given = await Release.of({
      ...EXTERNAL,
      backends: { existingSecret: 'model-servers' },
      search: { existingSecret: 'providers' },
    });
    const from = given
      .pods()
      .flatMap(({ name, spec }) => [
        ...(spec.containers[0].envFrom ?? []).map(({ secretRef }) => [name, secretRef.name]),
        ...(spec.volumes ?? []).flatMap(({ secret }) => (secret ? [[name, secret.secretName]] : [])),
      ]);
    expect(from).toEqual([
      ['inference-router', 'model-servers'],
      ['retrieval-worker', 'providers'],
    ]);
  });
});

describe('the key that signs payments', () => {
  it('is a file from a Secret, only in x402-payments', async () => {
    const given = await Release.of({ ...EXTERNAL, payments: { existingSecret: 'payments' } });
    const having = given.pods().filter(({ spec }) => spec.volumes?.some(({ secret }) => secret));
    expect(having.map(({ name }) => name)).toEqual(['x402-payments']);
    const { spec } = given.pod('x402-payments');
    const [{ mountPath }] = spec.containers[0].volumeMounts.filter(({ name }) => name === 'payments');
    const { X402_EVM_SIGNER_KEY_FILE, X402_SOLANA_SIGNER_KEY_FILE } = given.environment('x402-payments');
    expect([X402_EVM_SIGNER_KEY_FILE, X402_SOLANA_SIGNER_KEY_FILE]).toEqual([
      `${mountPath}/signer-key`,
      `${mountPath}/solana-signer-key`,
    ]);
  });
});

describe('the jobs', () => {
  const hookOf = ({ metadata }) => metadata.annotations['helm.sh/hook'];
  const weightOf = ({ metadata }) => Number(metadata.annotations['helm.sh/hook-weight']);

  it('migrate tables and then create topics, before anything else in an install or an upgrade', () => {
    const [migrate, topics] = [release.get('Job', 'migrate'), release.get('Job', 'topics')];
    for (const job of [migrate, topics]) {
      expect(hookOf(job)).toBe('pre-install,pre-upgrade');
      expect(job.spec).toMatchObject({ backoffLimit: 2, activeDeadlineSeconds: expect.any(Number) });
    }
    expect(weightOf(migrate)).toBeLessThan(weightOf(topics));
  });

  it('check the catalogue and the characters before anything else in an upgrade, with the new files', async () => {
    const given = await Release.of({
      ...EXTERNAL,
      characters: { content: 'characters: []' },
      backends: { existingSecret: 'backend-keys' },
      catalogCheck: { variables: ['OTHER_KEY'], force: true },
      services: { 'api-gateway': { settings: { SVC_CATALOG_PRICE_FACTOR: 3 } } },
    });
    const check = given.get('Job', 'catalog');
    expect(hookOf(check)).toBe('pre-upgrade');
    expect(weightOf(check)).toBeLessThan(weightOf(given.get('Job', 'migrate')));
    expect(check.spec.backoffLimit).toBe(0);
    const [{ args, volumeMounts }] = check.spec.template.spec.containers;
    expect(args.join(' ')).toBe(
      'check /etc/svc/catalog/catalog.yaml /etc/svc/characters/characters.yaml --unless-down --force --factor 3 --env OTHER_KEY --env *',
    );
    expect(given.environment('catalog')).toMatchObject({
      OPERATOR_URL: 'http://svc-api-gateway:3001',
      SVC_OPERATOR_TOKEN: expect.anything(),
    });
    expect(volumeMounts.map(({ mountPath }) => mountPath)).toEqual([
      '/etc/svc/catalog',
      '/etc/svc/characters',
    ]);
    for (const kind of ['catalog', 'characters']) {
      const copy = given.get('ConfigMap', `${kind}-check`);
      expect(hookOf(copy)).toBe('pre-upgrade');
      expect(weightOf(copy)).toBeLessThan(weightOf(check));
      expect(copy.data).toEqual(given.get('ConfigMap', kind).data);
    }
  });

  it('check existing ConfigMaps too, and nothing if the check is off', async () => {
    const given = await Release.of({ ...EXTERNAL, catalog: { existingConfigMap: 'models' } });
    expect(given.get('Job', 'catalog').spec.template.spec.volumes).toContainEqual({
      name: 'catalog',
      configMap: { name: 'models' },
    });
    expect(given.find('ConfigMap', 'catalog-check')).toBeUndefined();
    const off = await Release.of({ ...EXTERNAL, catalogCheck: { enabled: false } });
    expect(off.find('Job', 'catalog')).toBeUndefined();
    expect(off.find('ConfigMap', 'catalog-check')).toBeUndefined();
  });

  it('are the only ones to migrate tables', () => {
    expect(release.environment('billing-ledger').LEDGER_MIGRATE).toBe('false');
  });

  it('use only objects that exist before they run', async () => {
    const given = await Release.of({ ...EXTERNAL, postgres: { url: 'postgres://svc:secret@postgres/svc' } });
    const before = given.objects.filter(
      (one) => one.metadata.annotations?.['helm.sh/hook'] && weightOf(one) < 0,
    );
    expect(before.map(({ kind, metadata }) => [kind, metadata.name])).toContainEqual(['Secret', 'svc-hooks']);
    const { spec } = given.pod('migrate');
    expect(spec.serviceAccountName).toBeUndefined();
    const [{ valueFrom }] = spec.containers[0].env;
    expect(valueFrom.secretKeyRef).toEqual({ name: 'svc-hooks', key: 'postgres' });
  });
});

describe('routes', () => {
  const routed = (values) => Release.of({ ...EXTERNAL, ...values });

  it('of an Ingress allow long responses, and lead only to the public port', async () => {
    const given = await routed({ ingress: { enabled: true, hosts: ['api.example'] } });
    const { metadata, spec } = given.get('Ingress', 'api-gateway');
    expect(metadata.annotations).toMatchObject({
      'nginx.ingress.kubernetes.io/proxy-buffering': 'off',
      'nginx.ingress.kubernetes.io/proxy-read-timeout': '3600',
    });
    expect(spec.rules).toEqual([
      {
        host: 'api.example',
        http: {
          paths: [
            {
              path: '/',
              pathType: 'Prefix',
              backend: { service: { name: 'svc-api-gateway', port: { number: 3000 } } },
            },
          ],
        },
      },
    ]);
  });

  it('of the Gateway API have no deadline of their own', async () => {
    const parentRefs = [{ name: 'public', namespace: 'gateways' }];
    const given = await routed({ httpRoute: { enabled: true, parentRefs, hostnames: ['api.example'] } });
    expect(given.get('HTTPRoute', 'api-gateway').spec).toEqual({
      parentRefs,
      hostnames: ['api.example'],
      rules: [
        {
          backendRefs: [{ name: 'svc-api-gateway', port: 3000 }],
          timeouts: { request: '0s', backendRequest: '0s' },
        },
      ],
    });
  });
});
