// What cases of legitimate values have in common: values of the gateway, and parts of its release.
export const GATEWAY = 'api-gateway';
export const gateway = (own) => ({ services: { [GATEWAY]: own } });
export const everywhere = (defaults) => ({ defaults });
export const objects = (kind, over) => gateway({ objects: { [kind]: over } });
export const podSpec = (spec) => gateway({ podTemplate: { spec } });
export const main = (container) => gateway({ container });

export const workload = (release) => release.get('Deployment', GATEWAY);
export const stateful = (release) => release.get('StatefulSet', GATEWAY);
export const pod = (release) => release.pod(GATEWAY);
export const spec = (release) => pod(release).spec;
export const container = (release) => spec(release).containers[0];
export const object =
  (kind, name = GATEWAY) =>
  (release) =>
    release.find(kind, name);
export const every = (pick) => (release) => [...new Set(release.objects.map(pick))];
export const everyPod = (pick) => (release) => [...new Set(release.pods().map(pick))];

export const PERSISTENT = { persistence: { enabled: true } };
export const SCALED = { autoscaling: { enabled: true, max: 3 } };
export const TRIGGER = {
  type: 'cron',
  metadata: { timezone: 'UTC', start: '0 8 * * *', end: '0 18 * * *', desiredReplicas: '3' },
};
export const MONITORED = { serviceMonitor: { enabled: true } };
