// Runs the process of a pod from the API server on this machine: with its command and environment, its
// Secrets and ConfigMaps. No container runs: the files are those of the repository, Services are local ports,
// and volumes are folders.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../documented.mjs';
import { until } from './api.mjs';
import { freePort } from './control-plane.mjs';

const START_MS = 180_000;
const STOP_MS = 60_000;

export class PodProcess {
  output = '';

  /**
   * `addresses` maps addresses of Services, `svc-all:3000`, to local ones; the pod's own ports are added
   * to them.
   */
  constructor(api, namespace, addresses = {}) {
    Object.assign(this, { api, namespace, addresses });
  }

  async start(name) {
    const pod = await this.#get('pods', name);
    const [main] = pod.spec.containers;
    this.folder = await mkdtemp(join(tmpdir(), `svc-pod-${name}-`));
    // When this runs as root, PostgreSQL runs as another user, who needs access.
    await chmod(this.folder, 0o711);
    for (const { name: volume, mountPath } of main.volumeMounts ?? [])
      await this.#fill(mountPath, pod.spec.volumes.find((one) => one.name === volume) ?? {});
    const env = { PATH: process.env.PATH, NODE_ENV: 'production' };
    for (const variable of main.env) env[variable.name] = this.#local(await this.#valueOf(variable));
    await this.#takePorts(main, env);
    const [, ...args] = main.command.map((part) => this.#local(part));
    this.child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (this.output += text));
    this.ended = once(this.child, 'exit').then(([code]) => code);
    this.probe = main.readinessProbe?.httpGet;
    return this;
  }

  /** Waits until its readiness probe succeeds. */
  ready() {
    const port = this.ports[this.probe.port];
    return until(
      'the pod is ready',
      async () => {
        if (this.child.exitCode !== null) throw new Error(this.output);
        return (await fetch(`http://127.0.0.1:${port}${this.probe.path}`)).ok;
      },
      START_MS,
    );
  }

  async stop() {
    if (this.child?.exitCode === null) {
      this.child.kill('SIGTERM');
      const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_MS);
      await this.ended;
      clearTimeout(timer);
    }
    if (this.folder) await rm(this.folder, { recursive: true, force: true });
  }

  #get(resource, name) {
    return this.api.get(`/api/v1/namespaces/${this.namespace}/${resource}/${name}`);
  }

  async #fill(mountPath, { configMap, secret }) {
    const folder = join(this.folder, mountPath);
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
    if (secret) throw new Error(`${secret.secretName} is a volume, which is not supported here`);
    const { data = {} } = configMap ? await this.#get('configmaps', configMap.name) : {};
    for (const [file, text] of Object.entries(data)) await writeFile(join(folder, file), text);
    this.mounts = [...(this.mounts ?? []), mountPath];
  }

  async #valueOf({ value = '', valueFrom }) {
    const { secretKeyRef: of } = valueFrom ?? {};
    if (!of) return value;
    const { data } = await this.#get('secrets', of.name);
    return Buffer.from(data[of.key] ?? '', 'base64').toString();
  }

  /** Replaces paths of its volumes and addresses of Services by local ones. */
  #local(text) {
    const mount = (this.mounts ?? []).find((path) => text.startsWith(path));
    const at = Object.entries(this.addresses).find(([address]) => text.includes(address));
    if (mount) return join(this.folder, text);
    return at ? text.replace(at[0], at[1]) : text;
  }

  /** Replaces its ports by free local ports. */
  async #takePorts({ ports = [] }, env) {
    this.ports = {};
    for (const { name, containerPort } of ports) {
      this.ports[name] = await freePort();
      for (const variable of ['PORT', 'OPERATOR_PORT'])
        if (env[variable] === String(containerPort)) env[variable] = String(this.ports[name]);
    }
    if (ports.length > 0) env.HOST = '127.0.0.1';
  }
}
