// Simulates nodes. Marks their pods as running, or as completed, once everything that they refer to exists.
import { setTimeout as sleep } from 'node:timers/promises';

const ROUND_MS = 200;
const ZONES = ['a', 'b', 'c'];
const CAPACITY = { cpu: '64', memory: '256Gi', pods: '500', 'ephemeral-storage': '1Ti' };

const nodeOf = (zone) => ({
  metadata: {
    name: `node-${zone}`,
    labels: {
      'kubernetes.io/hostname': `node-${zone}`,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'topology.kubernetes.io/zone': zone,
    },
  },
});

/** The Secrets and ConfigMaps that a pod can't start without, and the keys that it uses of each. */
function needsOf({ volumes = [], containers }) {
  const variables = containers.flatMap(({ env = [] }) => env.map(({ valueFrom }) => valueFrom ?? {}));
  const wholes = containers.flatMap(({ envFrom = [] }) => envFrom);
  const keysOf = ({ items = [] }) => items.map(({ key }) => key);
  const refer = (kind, of, keys) =>
    of && !of.optional ? [{ kind, name: of.secretName ?? of.name, keys }] : [];
  return [
    ...variables.flatMap(({ secretKeyRef: of }) => refer('secrets', of, [of?.key])),
    ...variables.flatMap(({ configMapKeyRef: of }) => refer('configmaps', of, [of?.key])),
    ...wholes.flatMap(({ secretRef }) => refer('secrets', secretRef, [])),
    ...volumes.flatMap(({ secret }) => refer('secrets', secret, secret && keysOf(secret))),
    ...volumes.flatMap(({ configMap }) => refer('configmaps', configMap, configMap && keysOf(configMap))),
  ];
}

const conditions = (ready) =>
  ['Initialized', 'ContainersReady', 'Ready'].map((type) => ({ type, status: ready ? 'True' : 'False' }));

export class Kubelet {
  /** Exit codes of containers that do not run forever; the default is 0. */
  exitCodes = {};
  /** Whether new pods have to wait. */
  isHeld = false;
  /** The missing objects that pods wait for. */
  missing = new Set();
  /** Why the last failed round failed. */
  failure;
  #addresses = 0;
  #stopping = false;

  constructor(api) {
    this.api = api;
  }

  async start() {
    for (const zone of ZONES) {
      const { metadata } = await this.api.create('/api/v1/nodes', nodeOf(zone));
      const heartbeat = new Date().toISOString();
      const ready = { type: 'Ready', status: 'True', lastHeartbeatTime: heartbeat, reason: 'SetByTest' };
      const status = { capacity: CAPACITY, allocatable: CAPACITY, conditions: [ready] };
      await this.api.patch(`/api/v1/nodes/${metadata.name}/status`, { status });
    }
    this.running = this.#run();
  }

  async stop() {
    this.#stopping = true;
    await this.running;
  }

  async #run() {
    while (!this.#stopping) {
      try {
        const pods = await this.api.items('/api/v1/pods');
        for (const pod of pods) await this.#serve(pod);
      } catch (error) {
        // The next round retries.
        this.failure = error;
      }
      await sleep(ROUND_MS);
    }
  }

  async #serve(pod) {
    const { metadata, spec, status } = pod;
    const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
    if (!spec.nodeName) return;
    if (metadata.deletionTimestamp) {
      // A pod that is already gone causes an error, which can be ignored.
      await this.api.send('DELETE', path, { body: { gracePeriodSeconds: 0 } });
      return;
    }
    if (status.phase !== 'Pending' || this.isHeld || !(await this.#isComplete(pod))) return;
    const { status: answer, body } = await this.api.send('PATCH', `${path}/status`, {
      body: { status: this.#outcome(spec) },
      type: 'application/strategic-merge-patch+json',
    });
    if (answer >= 400 && answer !== 404) throw new Error(body.message);
  }

  async #isComplete({ metadata, spec }) {
    for (const { kind, name, keys } of needsOf(spec)) {
      const found = await this.api.send('GET', `/api/v1/namespaces/${metadata.namespace}/${kind}/${name}`);
      const data = found.status === 200 ? (found.body.data ?? {}) : undefined;
      if (data && keys.every((key) => key in data)) continue;
      this.missing.add(`${kind}/${name}`);
      return false;
    }
    return true;
  }

  #outcome({ containers, restartPolicy }) {
    const startedAt = new Date().toISOString();
    this.#addresses += 1;
    const podIP = `10.244.${Math.floor(this.#addresses / 250)}.${(this.#addresses % 250) + 1}`;
    const ends = restartPolicy === 'Never';
    const exitCode = (name) => this.exitCodes[name] ?? 0;
    const hasFailed = ends && containers.some(({ name }) => exitCode(name) !== 0);
    const containerStatuses = containers.map(({ name, image }) => ({
      name,
      image,
      imageID: image,
      ready: !ends,
      started: !ends,
      restartCount: 0,
      state: ends
        ? { terminated: { exitCode: exitCode(name), startedAt, finishedAt: startedAt } }
        : { running: { startedAt } },
    }));
    const phase = ends ? (hasFailed ? 'Failed' : 'Succeeded') : 'Running';
    return {
      phase,
      startTime: startedAt,
      hostIP: '10.0.0.1',
      podIP,
      podIPs: [{ ip: podIP }],
      conditions: conditions(!ends),
      containerStatuses,
    };
  }
}
