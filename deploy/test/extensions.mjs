// Values that use every extension point of the chart at once.
import { EXTERNAL } from './chart.mjs';

const container = (name) => ({
  name,
  image: 'registry.example/tool:1.0.0',
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
  },
  resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '32Mi' } },
});

/** Extension points of every pod. */
export const POD = {
  extraEnv: [
    { name: 'HTTPS_PROXY', value: 'http://proxy:3128' },
    { name: 'REGION', valueFrom: { configMapKeyRef: { name: 'cluster', key: 'region' } } },
  ],
  envFrom: [{ secretRef: { name: 'shared' } }, { prefix: 'TEAM_', configMapRef: { name: 'team' } }],
  extraVolumes: [{ name: 'extra', emptyDir: { sizeLimit: '16Mi' } }],
  extraVolumeMounts: [{ name: 'extra', mountPath: '/extra' }],
  initContainers: [container('prepare')],
  sidecars: [container('relay')],
  podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null, supplementalGroups: [4000] },
  securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
  topologySpreadConstraints: [
    { maxSkew: 2, topologyKey: 'example.com/rack', whenUnsatisfiable: 'ScheduleAnyway' },
  ],
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'spot', operator: 'Exists' }],
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 1,
          preference: { matchExpressions: [{ key: 'example.com/gpu', operator: 'DoesNotExist' }] },
        },
      ],
    },
  },
  podLabels: { 'example.com/team': 'inference' },
  podAnnotations: { 'example.com/cost-center': '7' },
  serviceAccountName: 'given',
};

/** All extension points, for every workload. */
export const EXTENDED = {
  ...EXTERNAL,
  postgres: { ...EXTERNAL.postgres, caSecret: { name: 'postgres-ca' } },
  kafka: { ...EXTERNAL.kafka, tls: true, caConfigMap: { name: 'kafka-ca', key: 'authority.pem' } },
  tls: { caConfigMap: { name: 'authorities' } },
  serviceAccount: { annotations: { 'example.com/role': 'svc' } },
  browser: { enabled: true },
  ingress: {
    enabled: true,
    hosts: ['api.example', 'api.example.org'],
    tls: [
      { secretName: 'tls', hosts: ['api.example'] },
      { secretName: 'tls-org', hosts: ['api.example.org'] },
    ],
  },
  httpRoute: {
    enabled: true,
    hostnames: ['api.example', 'api.example.org'],
    parentRefs: [{ name: 'public' }],
  },
  defaults: { ...POD, service: { annotations: { 'example.com/mesh': 'on' } } },
  services: {
    'api-gateway': {
      persistence: { enabled: true },
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { rollingUpdate: { partition: 1 } },
      service: {
        type: 'LoadBalancer',
        annotations: { 'example.com/scheme': 'internal' },
        loadBalancerClass: 'example.com/nlb',
        loadBalancerSourceRanges: ['192.0.2.0/24'],
        externalTrafficPolicy: 'Local',
      },
    },
  },
  extraObjects: [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: '{{ .Release.Name }}-map' },
      data: { host: '{{ .Values.ingress.hosts | first }}' },
    },
    'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Release.Name }}-text }\ndata: { a: b }\n',
  ],
};

/** The Secrets and ConfigMaps that they refer to. */
export const REFERRED = {
  secrets: { shared: { KEY: 'value' }, 'postgres-ca': { 'ca.crt': 'certificate' } },
  configmaps: {
    cluster: { region: 'eu' },
    team: { NAME: 'inference' },
    authorities: { 'ca.crt': 'certificate' },
    'kafka-ca': { 'authority.pem': 'certificate' },
  },
};
