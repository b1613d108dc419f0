// The JSON Schema of the chart's values. Unknown values are refused. Each service's settings are those of its
// process.
import { z } from 'zod';

const text = z.string();
const flag = z.boolean();
const count = z.int().min(0);
const seconds = z.int().min(0);
/** An objective of 100 % would have no error budget. */
const percent = z.number().min(50).max(99.999);
const tcpPort = z.int().min(1).max(65_535);
/** The name of an object in the namespace, or an empty string. */
const objectName = z
  .string()
  .max(253)
  .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/);
/** Kubernetes objects, which the API server validates. */
const kubernetes = z.record(text, z.unknown());
const peers = z.array(
  z
    .strictObject({
      namespaceSelector: kubernetes,
      podSelector: kubernetes,
      ipBlock: z.strictObject({ cidr: text, except: z.array(text).optional() }),
    })
    .partial(),
);
const secretKey = z.strictObject({ name: objectName, key: z.string().min(1) }).partial();
const strings = z.record(text, text);
const resources = z.strictObject({
  requests: z.record(text, z.union([text, z.number()])).optional(),
  limits: z.record(text, z.union([text, z.number()])).optional(),
});

/** CA certificates of servers, from a key of a Secret or a ConfigMap. */
const authority = { caSecret: secretKey, caConfigMap: secretKey };
const lists = z.array(kubernetes);
const reference = z.strictObject({ name: objectName, optional: flag.optional() });

/** Extension points of every workload. */
const pod = {
  resources,
  extraEnv: z.array(
    z.strictObject({ name: z.string().min(1), value: text.optional(), valueFrom: kubernetes.optional() }),
  ),
  envFrom: z.array(z.strictObject({ prefix: text, secretRef: reference, configMapRef: reference }).partial()),
  extraVolumes: lists,
  extraVolumeMounts: lists,
  initContainers: lists,
  sidecars: lists,
  podSecurityContext: kubernetes,
  securityContext: kubernetes,
  topologySpreadConstraints: lists,
  nodeSelector: strings,
  tolerations: lists,
  affinity: kubernetes,
  podLabels: strings,
  podAnnotations: strings,
  container: kubernetes,
  podTemplate: z.strictObject({ metadata: kubernetes, spec: kubernetes }).partial(),
  objects: z.record(text, kubernetes.nullable()),
  serviceAccountName: objectName,
};

const service = {
  ...pod,
  enabled: flag,
  replicas: count,
  neededReplicas: count,
  // The smallest limit of Node's timers and of the process.
  preStopSeconds: seconds.max(600),
  drainSeconds: seconds.max(600),
  startSeconds: seconds.min(2),
  autoscaling: z
    .strictObject({
      enabled: flag,
      min: count.min(1),
      max: count.min(1),
      cpuPercent: count.min(1),
      activeRequests: count,
      streams: count,
      kafkaLag: count,
      queuedJobs: count,
      triggers: lists,
    })
    .partial(),
  persistence: z.strictObject({ enabled: flag, size: text, storageClass: text }).partial(),
  podManagementPolicy: z.enum(['Parallel', 'OrderedReady']),
  updateStrategy: z.strictObject({ rollingUpdate: z.strictObject({ partition: count }).partial() }).partial(),
  service: z
    .strictObject({
      type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']),
      annotations: strings,
      loadBalancerClass: text,
      loadBalancerSourceRanges: z.array(text),
      externalTrafficPolicy: z.enum(['', 'Cluster', 'Local']),
    })
    .partial(),
  // The least that the processes accept.
  databaseConnections: count.min(3),
  reachesInternet: flag,
  reachesBackends: flag,
  searches: flag,
};

const shared = z
  .strictObject({
    fullnameOverride: z
      .string()
      .max(40)
      .regex(/^([a-z]([-a-z0-9]*[a-z0-9])?)?$/),
    commonLabels: strings,
    commonAnnotations: strings,
    hooks: z.strictObject({ enabled: flag }).partial(),
    image: z
      .strictObject({
        repository: z.string().min(1),
        tag: text,
        digest: z.string().regex(/^(sha256:[0-9a-f]{64})?$/),
        pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
        pullSecrets: z.array(z.strictObject({ name: objectName })),
      })
      .partial(),
    serviceAccount: z.strictObject({ annotations: strings }).partial(),
    tls: z.strictObject(authority).partial(),
    tokens: z.strictObject({ existingSecret: objectName }).partial(),
    postgres: z
      .strictObject({
        url: z.string().regex(/^(postgres(ql)?:\/\/.+)?$/),
        existingSecret: secretKey,
        host: z.string().regex(/^[\w.-]*$/),
        database: z.string().regex(/^[\w.-]+$/),
        parameters: z.string().regex(/^[\w.~%/=&-]*$/),
        credentials: z
          .strictObject({ secret: objectName, username: text, usernameKey: text, passwordKey: text })
          .partial(),
        ...authority,
        port: tcpPort,
        maxConnections: count.min(1),
        peers,
      })
      .partial(),
    kafka: z
      .strictObject({
        brokers: z.string().regex(/^([^\s,:]+:\d+(,[^\s,:]+:\d+)*)?$/),
        tls: flag,
        ...authority,
        clientSecret: z.strictObject({ name: objectName, certificate: text, key: text }).partial(),
        sasl: z.enum(['plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer']),
        oauth: z
          .strictObject({
            tokenUrl: z.string().regex(/^(https?:\/\/[^/\s]+.*)?$/),
            scope: text,
            tokenFile: z.string().regex(/^(\/.+)?$/),
            peers,
          })
          .partial(),
        username: text,
        password: text,
        existingSecret: secretKey,
        peers,
        topics: z
          .strictObject({
            create: flag,
            partitions: count.min(1),
            replicas: count.min(1),
            minInSyncReplicas: count.min(1),
            retentionDays: count.min(1),
            deadlineSeconds: seconds.min(1),
            ...pod,
          })
          .partial(),
      })
      .partial(),
    redis: z
      .strictObject({
        url: z.string().regex(/^(rediss?(\+sentinel)?:\/\/.+)?$/),
        existingSecret: secretKey,
        port: tcpPort,
        sentinelPort: z.union([tcpPort, z.literal(0)]),
        peers,
      })
      .partial(),
    mail: z
      .strictObject({
        host: text,
        port: tcpPort,
        tls: z.enum(['starttls', 'tls', 'off']),
        from: text,
        username: text,
        existingSecret: secretKey,
        peers,
      })
      .partial(),
    migrations: z.strictObject({ deadlineSeconds: seconds.min(1), ...pod }).partial(),
    simulator: z.strictObject({ enabled: z.union([flag, z.literal('auto')]), ...pod }).partial(),
    firstAccount: z.strictObject({ enabled: flag, deadlineSeconds: seconds.min(1), ...pod }).partial(),
    catalog: z.strictObject({ content: text, existingConfigMap: objectName }).partial(),
    characters: z.strictObject({ content: text, existingConfigMap: objectName }).partial(),
    catalogCheck: z
      .strictObject({
        enabled: flag,
        force: flag,
        variables: z.array(z.string().regex(/^[A-Z][A-Z0-9_]*$/)),
        deadlineSeconds: seconds.min(1),
        ...pod,
      })
      .partial(),
    backends: z.strictObject({ existingSecret: objectName, peers }).partial(),
    search: z.strictObject({ existingSecret: objectName, peers }).partial(),
    browser: z
      .strictObject({
        enabled: flag,
        url: z.string().regex(/^(https?:\/\/[^/]+(:\d+)?)?$/),
        peers,
        image: z.string().min(1),
        pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']),
        replicas: count.min(1),
        ...pod,
        service: z.strictObject({ annotations: strings }).partial(),
      })
      .partial(),
    mediaStorage: z
      .strictObject({
        url: z.string().regex(/^(https?:\/\/[^/\s]+.*)?$/),
        publicUrl: z.string().regex(/^(https?:\/\/[^/\s]+.*)?$/),
        bucket: z.string().regex(/^([a-z\d][a-z\d.-]{1,61}[a-z\d])?$/),
        region: text,
        prefix: z.string().regex(/^[\w./-]{0,200}$/),
        existingSecret: z
          .strictObject({ name: objectName, accessKeyId: text, secretAccessKey: text })
          .partial(),
        workloadIdentity: flag,
        peers,
      })
      .partial(),
    payments: z.strictObject({ existingSecret: objectName, peers }).partial(),
    ingress: z
      .strictObject({
        enabled: flag,
        className: text,
        hosts: z.array(z.string().min(1)),
        tls: z.array(z.strictObject({ secretName: objectName, hosts: z.array(text) }).partial()),
        annotations: strings,
      })
      .partial(),
    httpRoute: z
      .strictObject({ enabled: flag, hostnames: z.array(text), parentRefs: z.array(kubernetes) })
      .partial(),
    proxyProtocol: z
      .strictObject({
        enabled: flag,
        port: tcpPort,
        peers,
        service: z
          .strictObject({
            type: z.enum(['ClusterIP', 'LoadBalancer', 'NodePort']),
            port: tcpPort,
            annotations: strings,
          })
          .partial(),
      })
      .partial(),
    networkPolicy: z
      .strictObject({
        enabled: flag,
        clients: peers,
        operators: peers,
        monitoring: peers,
        dns: peers,
        dnsPort: tcpPort,
        privateRanges: z.strictObject({ ipv4: z.array(text), ipv6: z.array(text) }).partial(),
      })
      .partial(),
    telemetry: z
      .strictObject({ otlpEndpoint: z.string().regex(/^(https?:\/\/[^/]+(:\d+)?)?$/), peers })
      .partial(),
    prometheusRule: z.strictObject({ enabled: flag, labels: strings, alertLabels: strings }).partial(),
    objectives: z
      .strictObject({
        availability: percent,
        reads: percent,
        modelAvailability: percent,
        firstToken: percent,
        // Boundaries of the histogram.
        firstTokenSeconds: z.literal([0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80]),
        leastFailures: count.min(1),
      })
      .partial(),
    monitoring: z
      .strictObject({
        seriesLabels: z.record(z.string().regex(/^[a-zA-Z_]\w*$/), text),
        runbooksUrl: z.string().regex(/^https?:\/\/.+$/),
      })
      .partial(),
    dashboards: z.strictObject({ enabled: flag, labels: strings }).partial(),
    serviceMonitor: z
      .strictObject({ enabled: flag, interval: text, labels: strings, endpoint: kubernetes })
      .partial(),
    keda: z
      .strictObject({
        prometheusUrl: z.string().regex(/^(https?:\/\/.+)?$/),
        kafkaAuthentication: objectName,
      })
      .partial(),
    priorityClass: z
      .strictObject({ create: flag, name: objectName, value: z.int().max(1_000_000_000) })
      .partial(),
    test: z.strictObject({ model: z.string().min(1), ...pod }).partial(),
    extraObjects: z.array(z.union([text, kubernetes])),
    // Set by Helm, for subcharts.
    global: kubernetes,
  })
  .partial();

/**
 * The JSON Schema of values.yaml. `settings` has the names of the settings of each service that may be given,
 * without those that the chart sets itself.
 */
export function valuesSchema(settings) {
  const value = z.union([text, z.number(), flag]);
  const of = (names) =>
    z
      .strictObject({
        ...service,
        port: tcpPort,
        operatorPort: tcpPort,
        settings: z.strictObject(Object.fromEntries(names.map((name) => [name, value]))).partial(),
      })
      .partial();
  const everywhere = Object.values(settings)[0].filter((name) =>
    Object.values(settings).every((names) => names.includes(name)),
  );
  const services = Object.entries(settings).map(([name, names]) => [name, of(names)]);
  const values = shared.extend({
    defaults: of(everywhere).omit({ port: true, operatorPort: true }),
    services: z.strictObject(Object.fromEntries(services)).partial(),
  });
  return z.toJSONSchema(values, { target: 'draft-7', reused: 'ref' });
}

const volume = z.strictObject({ size: z.string().min(1), storageClass: text }).partial();

/** The values of the chart that installs PostgreSQL, Kafka and Redis. */
const data = z
  .strictObject({
    fullnameOverride: shared.shape.fullnameOverride,
    postgres: z
      .strictObject({
        enabled: flag,
        instances: count.min(1),
        image: text,
        storage: volume,
        walStorage: volume,
        maxConnections: count.min(50),
        resources,
        backup: z.strictObject({ objectStore: objectName, schedule: z.string().min(1) }).partial(),
      })
      .partial(),
    kafka: z
      .strictObject({
        enabled: flag,
        version: text,
        replicas: count.min(1),
        storage: volume,
        user: objectName,
        resources,
      })
      .partial(),
    redis: z
      .strictObject({ enabled: flag, image: z.string().min(1), existingSecret: secretKey, resources })
      .partial(),
    global: kubernetes,
  })
  .partial();

export const dataSchema = () => z.toJSONSchema(data, { target: 'draft-7', reused: 'ref' });
