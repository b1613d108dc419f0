// Values of pods and containers that operators of other charts are used to. Each case: what is wanted, the
// values, where the release shows it, and what it shows there.
import { container, everyPod, everywhere, gateway, main, pod, podSpec, spec } from './legitimate.mjs';

const PODS = [
  [
    'host aliases',
    podSpec({ hostAliases: [{ ip: '192.0.2.1', hostnames: ['db'] }] }),
    (r) => spec(r).hostAliases[0].ip,
    '192.0.2.1',
  ],
  [
    'a DNS policy',
    podSpec({ dnsPolicy: 'None', dnsConfig: { nameservers: ['192.0.2.2'] } }),
    (r) => spec(r).dnsPolicy,
    'None',
  ],
  [
    'DNS options',
    podSpec({ dnsConfig: { options: [{ name: 'ndots', value: '2' }] } }),
    (r) => spec(r).dnsConfig.options[0].name,
    'ndots',
  ],
  ['a runtime class', podSpec({ runtimeClassName: 'gvisor' }), (r) => spec(r).runtimeClassName, 'gvisor'],
  ['a scheduler', podSpec({ schedulerName: 'volcano' }), (r) => spec(r).schedulerName, 'volcano'],
  [
    'a priority class of a service',
    podSpec({ priorityClassName: 'high' }),
    (r) => spec(r).priorityClassName,
    'high',
  ],
  [
    'a longer grace period',
    podSpec({ terminationGracePeriodSeconds: 900 }),
    (r) => spec(r).terminationGracePeriodSeconds,
    900,
  ],
  ['user namespaces', podSpec({ hostUsers: false }), (r) => spec(r).hostUsers, false],
  [
    'a shared process namespace',
    podSpec({ shareProcessNamespace: true }),
    (r) => spec(r).shareProcessNamespace,
    true,
  ],
  [
    'a token of the API server',
    podSpec({ automountServiceAccountToken: true }),
    (r) => spec(r).automountServiceAccountToken,
    true,
  ],
  ['a host name', podSpec({ setHostnameAsFQDN: true }), (r) => spec(r).setHostnameAsFQDN, true],
  [
    'readiness gates',
    podSpec({ readinessGates: [{ conditionType: 'example.com/up' }] }),
    (r) => spec(r).readinessGates.length,
    1,
  ],
  [
    'resources of a whole pod',
    podSpec({ resources: { limits: { memory: '4Gi' } } }),
    (r) => spec(r).resources.limits.memory,
    '4Gi',
  ],
  ['the operating system', podSpec({ os: { name: 'linux' } }), (r) => spec(r).os.name, 'linux'],
  [
    'an overlay for every pod',
    everywhere({ podTemplate: { spec: { runtimeClassName: 'kata' } } }),
    everyPod((one) => one.spec.runtimeClassName),
    ['kata'],
  ],
  [
    'an overlay of a service over that of all',
    { ...everywhere({ podTemplate: { spec: { schedulerName: 'a' } } }), ...podSpec({ schedulerName: 'b' }) },
    (r) => [spec(r).schedulerName, r.pod('rate-limiter').spec.schedulerName],
    ['b', 'a'],
  ],
  [
    'a part of the pod removed',
    podSpec({ topologySpreadConstraints: null }),
    (r) => spec(r).topologySpreadConstraints,
    undefined,
  ],
  [
    'a part that all have, removed in one service',
    {
      ...everywhere({ podTemplate: { spec: { runtimeClassName: 'kata' } } }),
      ...podSpec({ runtimeClassName: null }),
    },
    (r) => spec(r).runtimeClassName,
    undefined,
  ],
  [
    'labels of the pod template',
    gateway({ podTemplate: { metadata: { labels: { team: 'a' } } } }),
    (r) => pod(r).metadata.labels.team,
    'a',
  ],
  [
    'annotations of the pod template',
    gateway({ podTemplate: { metadata: { annotations: { mesh: 'on' } } } }),
    (r) => pod(r).metadata.annotations.mesh,
    'on',
  ],
  ['pod labels', gateway({ podLabels: { team: 'b' } }), (r) => pod(r).metadata.labels.team, 'b'],
  [
    'pod annotations',
    gateway({ podAnnotations: { scrape: 'true' } }),
    (r) => pod(r).metadata.annotations.scrape,
    'true',
  ],
  ['a node selector', gateway({ nodeSelector: { pool: 'api' } }), (r) => spec(r).nodeSelector.pool, 'api'],
  [
    'tolerations',
    gateway({ tolerations: [{ key: 'spot', operator: 'Exists' }] }),
    (r) => spec(r).tolerations[0].key,
    'spot',
  ],
  [
    'an affinity',
    gateway({ affinity: { podAntiAffinity: {} } }),
    (r) => spec(r).affinity,
    { podAntiAffinity: {} },
  ],
  [
    'a sidecar',
    gateway({ sidecars: [{ name: 'proxy', image: 'proxy:1' }] }),
    (r) => spec(r).initContainers[0].restartPolicy,
    'Always',
  ],
  [
    'an init container',
    gateway({ initContainers: [{ name: 'wait', image: 'wait:1' }] }),
    (r) => spec(r).initContainers[0].name,
    'wait',
  ],
  [
    'volumes',
    gateway({
      extraVolumes: [{ name: 'x', emptyDir: {} }],
      extraVolumeMounts: [{ name: 'x', mountPath: '/x' }],
    }),
    (r) => container(r).volumeMounts.at(-1).mountPath,
    '/x',
  ],
  [
    'a variable',
    gateway({ extraEnv: [{ name: 'REGION', value: 'eu' }] }),
    (r) => container(r).env.at(-1).value,
    'eu',
  ],
  [
    'variables of a ConfigMap',
    gateway({ envFrom: [{ configMapRef: { name: 'team' } }] }),
    (r) => container(r).envFrom[0].configMapRef.name,
    'team',
  ],
  [
    'another ServiceAccount',
    gateway({ serviceAccountName: 'mine' }),
    (r) => spec(r).serviceAccountName,
    'mine',
  ],
  [
    'a user of the cluster’s choice',
    everywhere({ podSecurityContext: { runAsUser: null } }),
    (r) => spec(r).securityContext.runAsUser,
    undefined,
  ],
];

const CONTAINERS = [
  [
    'an image by service',
    main({ image: 'registry.example/gateway@sha256:0' }),
    (r) => container(r).image,
    'registry.example/gateway@sha256:0',
  ],
  [
    'a pull policy by service',
    main({ imagePullPolicy: 'Always' }),
    (r) => container(r).imagePullPolicy,
    'Always',
  ],
  [
    'a slower liveness probe',
    main({ livenessProbe: { periodSeconds: 30 } }),
    (r) => container(r).livenessProbe.periodSeconds,
    30,
  ],
  [
    'the rest of a probe kept',
    main({ livenessProbe: { periodSeconds: 30 } }),
    (r) => container(r).livenessProbe.httpGet.path,
    '/healthz',
  ],
  [
    'a readiness threshold',
    main({ readinessProbe: { failureThreshold: 5 } }),
    (r) => container(r).readinessProbe.failureThreshold,
    5,
  ],
  [
    'a longer startup',
    main({ startupProbe: { failureThreshold: 600 } }),
    (r) => container(r).startupProbe.failureThreshold,
    600,
  ],
  ['no liveness probe', main({ livenessProbe: null }), (r) => container(r).livenessProbe, undefined],
  [
    'probes of every service',
    everywhere({ container: { terminationMessagePolicy: 'FallbackToLogsOnError' } }),
    everyPod((one) => one.spec.containers[0].terminationMessagePolicy),
    ['FallbackToLogsOnError'],
  ],
  [
    'a lifecycle hook',
    main({ lifecycle: { preStop: { sleep: { seconds: 30 } } } }),
    (r) => container(r).lifecycle.preStop.sleep.seconds,
    30,
  ],
  [
    'another command',
    main({ command: ['node', '--inspect', 'apps/api-gateway/dist/main.js'] }),
    (r) => container(r).command[1],
    '--inspect',
  ],
  [
    'resources',
    gateway({ resources: { limits: { memory: '4Gi' } } }),
    (r) => container(r).resources.limits.memory,
    '4Gi',
  ],
  [
    'a digest',
    { image: { digest: `sha256:${'0'.repeat(64)}` } },
    (r) => container(r).image,
    `svc@sha256:${'0'.repeat(64)}`,
  ],
  [
    'a pull secret',
    { image: { pullSecrets: [{ name: 'registry' }] } },
    (r) => spec(r).imagePullSecrets,
    [{ name: 'registry' }],
  ],
  [
    'a probe of a Job’s pod',
    { migrations: { container: { workingDir: '/svc' } } },
    (r) => r.pod('migrate').spec.containers[0].workingDir,
    '/svc',
  ],
];

export const LEGITIMATE_PODS = [...PODS, ...CONTAINERS];
