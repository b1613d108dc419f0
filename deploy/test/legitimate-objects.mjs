// The same for workloads, scalers, the network, monitoring and the release.
import { EXTERNAL } from './chart.mjs';
import {
  GATEWAY,
  MONITORED,
  PERSISTENT,
  SCALED,
  TRIGGER,
  container,
  every,
  everywhere,
  gateway,
  object,
  objects,
  stateful,
  workload,
} from './legitimate.mjs';

const WORKLOADS = [
  [
    'a strategy',
    objects('Deployment', { spec: { strategy: { rollingUpdate: { maxSurge: '50%' } } } }),
    (r) => workload(r).spec.strategy.rollingUpdate.maxSurge,
    '50%',
  ],
  [
    'a Deployment that is recreated',
    objects('Deployment', { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } }),
    (r) => workload(r).spec.strategy,
    { type: 'Recreate' },
  ],
  [
    'seconds until a pod is available',
    objects('Deployment', { spec: { minReadySeconds: 10 } }),
    (r) => workload(r).spec.minReadySeconds,
    10,
  ],
  [
    'a progress deadline',
    objects('Deployment', { spec: { progressDeadlineSeconds: 900 } }),
    (r) => workload(r).spec.progressDeadlineSeconds,
    900,
  ],
  [
    'a history of ten',
    objects('Deployment', { spec: { revisionHistoryLimit: 10 } }),
    (r) => workload(r).spec.revisionHistoryLimit,
    10,
  ],
  [
    'annotations of a workload',
    objects('Deployment', { metadata: { annotations: { reload: 'true' } } }),
    (r) => workload(r).metadata.annotations.reload,
    'true',
  ],
  [
    'a StatefulSet that deletes its volumes',
    gateway({
      ...PERSISTENT,
      objects: { StatefulSet: { spec: { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } } } },
    }),
    (r) => stateful(r).spec.persistentVolumeClaimRetentionPolicy.whenDeleted,
    'Delete',
  ],
  [
    'an update strategy of a StatefulSet',
    gateway({ ...PERSISTENT, updateStrategy: { rollingUpdate: { partition: 2 } } }),
    (r) => stateful(r).spec.updateStrategy.rollingUpdate.partition,
    2,
  ],
  [
    'a storage class',
    gateway({ persistence: { enabled: true, storageClass: 'fast' } }),
    (r) => stateful(r).spec.volumeClaimTemplates[0].spec.storageClassName,
    'fast',
  ],
  [
    'retries of a Job',
    { migrations: { objects: { Job: { spec: { backoffLimit: 5 } } } } },
    (r) => object('Job', 'migrate')(r).spec.backoffLimit,
    5,
  ],
  [
    'annotations of a Job',
    {
      kafka: {
        ...EXTERNAL.kafka,
        topics: { objects: { Job: { metadata: { annotations: { wave: '1' } } } } },
      },
    },
    (r) => object('Job', 'topics')(r).metadata.annotations.wave,
    '1',
  ],
  [
    'a budget in percent',
    objects('PodDisruptionBudget', { spec: { maxUnavailable: null, minAvailable: '60%' } }),
    (r) => object('PodDisruptionBudget')(r).spec.minAvailable,
    '60%',
  ],
  [
    'a budget of two',
    objects('PodDisruptionBudget', { spec: { maxUnavailable: 2 } }),
    (r) => object('PodDisruptionBudget')(r).spec.maxUnavailable,
    2,
  ],
  ['no budget of a service', objects('PodDisruptionBudget', null), object('PodDisruptionBudget'), undefined],
  [
    'no budgets at all',
    everywhere({ objects: { PodDisruptionBudget: null } }),
    (r) => r.all('PodDisruptionBudget'),
    [],
  ],
  [
    'the browser’s replicas with annotations',
    { browser: { enabled: true, objects: { Deployment: { metadata: { annotations: { a: 'b' } } } } } },
    (r) => object('Deployment', 'browser')(r).metadata.annotations,
    { a: 'b' },
  ],
];

const SCALERS = [
  ['scaling by CPU', gateway(SCALED), (r) => object('HorizontalPodAutoscaler')(r).spec.maxReplicas, 3],
  [
    'a slower scale-down',
    gateway({
      ...SCALED,
      objects: {
        HorizontalPodAutoscaler: { spec: { behavior: { scaleDown: { stabilizationWindowSeconds: 600 } } } },
      },
    }),
    (r) => object('HorizontalPodAutoscaler')(r).spec.behavior.scaleDown.stabilizationWindowSeconds,
    600,
  ],
  [
    'scaling by memory',
    gateway({
      ...SCALED,
      objects: {
        HorizontalPodAutoscaler: {
          spec: {
            metrics: [
              {
                type: 'Resource',
                resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 70 } },
              },
            ],
          },
        },
      },
    }),
    (r) => object('HorizontalPodAutoscaler')(r).spec.metrics[0].resource.name,
    'memory',
  ],
  [
    'a trigger of KEDA',
    gateway({ autoscaling: { ...SCALED.autoscaling, triggers: [TRIGGER] } }),
    (r) => object('ScaledObject')(r).spec.triggers.at(-1),
    TRIGGER,
  ],
  [
    'a fallback of KEDA',
    gateway({
      autoscaling: { ...SCALED.autoscaling, triggers: [TRIGGER] },
      objects: { ScaledObject: { spec: { fallback: { failureThreshold: 3, replicas: 6 } } } },
    }),
    (r) => object('ScaledObject')(r).spec.fallback.replicas,
    6,
  ],
  [
    'a cool-down of KEDA',
    gateway({
      autoscaling: { ...SCALED.autoscaling, triggers: [TRIGGER] },
      objects: { ScaledObject: { spec: { cooldownPeriod: 60 } } },
    }),
    (r) => object('ScaledObject')(r).spec.cooldownPeriod,
    60,
  ],
];

const NETWORK = [
  [
    'annotations of a Service',
    gateway({ service: { annotations: { a: 'b' } } }),
    (r) => object('Service')(r).metadata.annotations,
    { a: 'b' },
  ],
  [
    'dual stack',
    everywhere({ objects: { Service: { spec: { ipFamilyPolicy: 'PreferDualStack' } } } }),
    (r) => object('Service')(r).spec.ipFamilyPolicy,
    'PreferDualStack',
  ],
  [
    'traffic within a zone',
    objects('Service', { spec: { trafficDistribution: 'PreferSameZone' } }),
    (r) => object('Service')(r).spec.trafficDistribution,
    'PreferSameZone',
  ],
  [
    'a headless Service',
    objects('Service', { spec: { clusterIP: 'None' } }),
    (r) => object('Service')(r).spec.clusterIP,
    'None',
  ],
  [
    'a load balancer',
    gateway({ service: { type: 'LoadBalancer' } }),
    (r) => object('Service', 'api-gateway-public')(r).spec.type,
    'LoadBalancer',
  ],
  [
    'another ingress class',
    { ingress: { enabled: true, className: 'traefik' } },
    (r) => object('Ingress')(r).spec.ingressClassName,
    'traefik',
  ],
  [
    'labels of the Ingress',
    { ingress: { enabled: true }, ...objects('Ingress', { metadata: { labels: { public: 'yes' } } }) },
    (r) => object('Ingress')(r).metadata.labels.public,
    'yes',
  ],
  [
    'annotations of a route',
    {
      httpRoute: { enabled: true, parentRefs: [{ name: 'g' }] },
      ...objects('HTTPRoute', { metadata: { annotations: { a: 'b' } } }),
    },
    (r) => object('HTTPRoute')(r).metadata.annotations,
    { a: 'b' },
  ],
  ['no policies', { networkPolicy: { enabled: false } }, (r) => r.all('NetworkPolicy'), []],
  ['no policy of one service', objects('NetworkPolicy', null), object('NetworkPolicy'), undefined],
  [
    'annotations of every policy',
    everywhere({ objects: { NetworkPolicy: { metadata: { annotations: { a: 'b' } } } } }),
    (r) => [...new Set(r.all('NetworkPolicy').map((one) => one.metadata.annotations.a))],
    ['b'],
  ],
];

const MONITORING = [
  [
    'a scrape timeout',
    { serviceMonitor: { enabled: true, endpoint: { scrapeTimeout: '20s' } } },
    (r) => object('ServiceMonitor')(r).spec.endpoints[0].scrapeTimeout,
    '20s',
  ],
  [
    'dropped metrics',
    {
      serviceMonitor: {
        enabled: true,
        endpoint: { metricRelabelings: [{ action: 'drop', sourceLabels: ['__name__'], regex: 'nodejs_.*' }] },
      },
    },
    (r) => object('ServiceMonitor')(r).spec.endpoints[0].metricRelabelings.length,
    1,
  ],
  [
    'the scrape path and token kept',
    { serviceMonitor: { enabled: true, endpoint: { scrapeTimeout: '20s' } } },
    (r) => object('ServiceMonitor')(r).spec.endpoints[0].authorization.credentials.key,
    'metrics-token',
  ],
  [
    'a limit of samples',
    { ...MONITORED, ...objects('ServiceMonitor', { spec: { sampleLimit: 50_000 } }) },
    (r) => object('ServiceMonitor')(r).spec.sampleLimit,
    50_000,
  ],
  [
    'target labels',
    { ...MONITORED, ...everywhere({ objects: { ServiceMonitor: { spec: { targetLabels: ['team'] } } } }) },
    (r) => object('ServiceMonitor')(r).spec.targetLabels,
    ['team'],
  ],
  [
    'a folder of dashboards',
    {
      dashboards: { enabled: true },
      ...everywhere({ objects: { ConfigMap: { metadata: { annotations: { grafana_folder: 'svc' } } } } }),
    },
    (r) => object('ConfigMap', 'dashboard-money')(r).metadata.annotations.grafana_folder,
    'svc',
  ],
];

const RELEASE = [
  [
    'labels of every object',
    { commonLabels: { 'example.com/owner': 'ml' } },
    every((one) => one.metadata.labels['example.com/owner']),
    ['ml'],
  ],
  [
    'annotations of every object',
    { commonAnnotations: { 'example.com/page': 'x' } },
    every((one) => one.metadata.annotations['example.com/page']),
    ['x'],
  ],
  [
    'annotations of the ServiceAccount',
    { serviceAccount: { annotations: { role: 'x' } } },
    (r) => r.all('ServiceAccount')[0].metadata.annotations.role,
    'x',
  ],
  [
    'a token in the ServiceAccount',
    everywhere({ objects: { ServiceAccount: { automountServiceAccountToken: true } } }),
    (r) => r.all('ServiceAccount')[0].automountServiceAccountToken,
    true,
  ],
  [
    'an immutable catalogue',
    { catalog: { content: 'models: []' }, ...everywhere({ objects: { ConfigMap: { immutable: true } } }) },
    (r) => object('ConfigMap', 'catalog')(r).immutable,
    true,
  ],
  [
    'no hooks',
    { hooks: { enabled: false } },
    (r) => r.all('Job').flatMap((one) => Object.keys(one.metadata.annotations ?? {})),
    [],
  ],
  [
    'a wave of Argo CD without hooks',
    {
      hooks: { enabled: false },
      migrations: {
        objects: { Job: { metadata: { annotations: { 'argocd.argoproj.io/sync-wave': '-1' } } } },
      },
    },
    (r) => r.all('Job').filter((one) => one.metadata.annotations !== undefined).length,
    1,
  ],
  [
    'hooks of Argo CD instead of Helm’s',
    everywhere({
      objects: {
        Job: { metadata: { annotations: { 'helm.sh/hook': null, 'argocd.argoproj.io/hook': 'PreSync' } } },
      },
    }),
    (r) => object('Job', 'migrate')(r).metadata.annotations['argocd.argoproj.io/hook'],
    'PreSync',
  ],
  [
    'more objects',
    { extraObjects: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'svc-mine' } }] },
    (r) => object('ConfigMap', 'mine')(r) !== undefined,
    true,
  ],
  [
    'a setting of one service',
    gateway({ settings: { GATEWAY_KEEP_ALIVE_MS: 5_000 } }),
    (r) => r.environment(GATEWAY).GATEWAY_KEEP_ALIVE_MS,
    '5000',
  ],
  [
    'the parts of PostgreSQL’s URL',
    { postgres: { host: 'db', parameters: 'sslmode=require', credentials: { secret: 'pg' } } },
    (r) => r.environment(GATEWAY).DATABASE_URL,
    'postgres://db:5432/svc?sslmode=require',
  ],
  [
    'the password of PostgreSQL by its key',
    { postgres: { host: 'db', credentials: { secret: 'pg', username: 'svc' } } },
    (r) => container(r).env.find(({ name }) => name === 'PGPASSWORD').valueFrom.secretKeyRef,
    { name: 'pg', key: 'password' },
  ],
];

export const LEGITIMATE_OBJECTS = [...WORKLOADS, ...SCALERS, ...NETWORK, ...MONITORING, ...RELEASE];
