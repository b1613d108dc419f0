// Kubernetes with simulated nodes, and Helm.
import { execFile } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { CHART } from '../chart.mjs';
import { ROOT } from '../documented.mjs';
import { phase } from '../phases.mjs';
import { descriptionsOf, programOf } from '../tools.mjs';
import { until } from './api.mjs';
import { ControlPlane } from './control-plane.mjs';
import { Kubelet } from './kubelet.mjs';
import { Metrics } from './metrics.mjs';

const run = promisify(execFile);
const HELM_MS = 12 * 60_000;

export class Cluster {
  static async start() {
    const cluster = new Cluster();
    cluster.plane = await ControlPlane.start();
    cluster.api = cluster.plane.api;
    cluster.kubelet = new Kubelet(cluster.api);
    cluster.metrics = new Metrics(cluster.plane);
    await cluster.kubelet.start();
    await cluster.metrics.start();
    return cluster;
  }

  async stop() {
    await this.kubelet.stop();
    await this.metrics.stop();
    await this.plane.stop();
  }

  /** A namespace for restricted pods only, with Secrets and ConfigMaps. */
  async makeNamespace(name, secrets = {}, configMaps = {}) {
    const modes = ['enforce', 'warn', 'audit'].map((mode) => [
      `pod-security.kubernetes.io/${mode}`,
      'restricted',
    ]);
    await this.api.create('/api/v1/namespaces', { metadata: { name, labels: Object.fromEntries(modes) } });
    await until('the account of the namespace is there', () =>
      this.api.get(`/api/v1/namespaces/${name}/serviceaccounts/default`),
    );
    for (const [secret, stringData] of Object.entries(secrets))
      await this.api.create(`/api/v1/namespaces/${name}/secrets`, { metadata: { name: secret }, stringData });
    for (const [configMap, data] of Object.entries(configMaps))
      await this.api.create(`/api/v1/namespaces/${name}/configmaps`, { metadata: { name: configMap }, data });
  }

  /** Volumes for any claim. */
  async makeVolumes(count) {
    for (let index = 0; index < count; index += 1)
      await this.api.create('/api/v1/persistentvolumes', {
        metadata: { name: `volume-${index}` },
        spec: {
          capacity: { storage: '10Gi' },
          accessModes: ['ReadWriteOnce'],
          hostPath: { path: `/volumes/${index}` },
        },
      });
  }

  /** Third-party kinds by resource name, as described by their own module. */
  makeKinds(module, names) {
    return phase(`kinds of ${module}: ${names.join(', ')}`, async () => {
      const folder = await descriptionsOf(module);
      const files = (await readdir(folder)).filter((file) => names.includes(/_(\w+)\.yaml$/.exec(file)?.[1]));
      if (files.length !== names.length) throw new Error(`${module} describes ${files.join(', ')}`);
      const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
      const kinds = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()));
      await Promise.all(kinds.filter(Boolean).map((kind) => this.#makeKind(kind)));
    });
  }

  async #makeKind(kind) {
    if (kind.kind !== 'CustomResourceDefinition') return;
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await this.api.create(path, kind);
    await until(`${kind.metadata.name} is served`, async () => {
      const { status } = await this.api.get(`${path}/${kind.metadata.name}`);
      return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True');
    });
  }

  /** Runs a Helm command of the documentation in a shell in the root of the repository. */
  shell(command) {
    const PATH = `${dirname(programOf('helm'))}:${process.env.PATH}`;
    const env = { ...process.env, PATH, KUBECONFIG: this.plane.kubeconfig };
    return phase(command, async () => {
      const { stdout, stderr } = await run('sh', ['-c', command], { cwd: ROOT, env, timeout: HELM_MS });
      return `${stdout}${stderr}`;
    });
  }

  /** Runs Helm with values. Returns its output, including warnings of the API server. */
  helm(namespace, args, values) {
    return phase(`helm ${args.slice(0, 2).join(' ')} in ${namespace}`, () =>
      this.#helm(namespace, args, values),
    );
  }

  async #helm(namespace, args, values) {
    const given = values === undefined ? [] : ['--values', '-'];
    const own = ['--kubeconfig', this.plane.kubeconfig, '--namespace', namespace];
    const running = run(programOf('helm'), [...args, ...own, ...given], { timeout: HELM_MS });
    running.child.stdin.end(values === undefined ? '' : JSON.stringify(values));
    try {
      const { stdout, stderr } = await running;
      return `${stdout}${stderr}`;
    } catch (error) {
      const missing = [...this.kubelet.missing].join(', ') || 'nothing';
      const failure = this.kubelet.failure?.message ?? 'none';
      const lines = [
        error.stderr,
        error.stdout,
        `pods waited for: ${missing}`,
        `failure of the nodes: ${failure}`,
      ];
      throw new Error(lines.join('\n'), { cause: error });
    }
  }
}

/** One release of the chart. */
export class Installed {
  constructor(cluster, namespace) {
    Object.assign(this, { cluster, api: cluster.api, namespace });
  }

  helm(args, values) {
    return this.cluster.helm(this.namespace, args, values);
  }

  install(values) {
    return this.helm(['install', 'svc', CHART, '--wait', '--wait-for-jobs', '--timeout', '10m'], values);
  }

  upgrade(values) {
    return this.helm(['upgrade', 'svc', CHART, '--wait', '--wait-for-jobs', '--timeout', '10m'], values);
  }

  path(group, resource) {
    return `/${group === 'v1' ? 'api' : 'apis'}/${group}/namespaces/${this.namespace}/${resource}`;
  }

  deployment(name) {
    return this.api.get(`${this.path('apps/v1', 'deployments')}/svc-${name}`);
  }

  deployments() {
    return this.api.items(this.path('apps/v1', 'deployments'));
  }

  async pods(name) {
    const selector = `app.kubernetes.io/component%3D${name}`;
    const pods = await this.api.items(`${this.path('v1', 'pods')}?labelSelector=${selector}`);
    return pods.filter(({ metadata }) => !metadata.deletionTimestamp);
  }

  async revisions() {
    return JSON.parse(await this.helm(['history', 'svc', '--output', 'json']));
  }
}
