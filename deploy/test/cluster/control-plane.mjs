// etcd and Kubernetes' API server, controllers and scheduler, as local processes.
import { spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { phase } from '../phases.mjs';
import { CONTROL_PLANE } from '../tools.mjs';
import { Api, until } from './api.mjs';

const STOP_MS = 20_000;
const LOG_LINES = 30;

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

const flags = (of) => Object.entries(of).map(([name, value]) => `--${name}=${value}`);

export class ControlPlane {
  processes = [];

  static async start() {
    const plane = new ControlPlane();
    plane.folder = await mkdtemp(join(tmpdir(), 'svc-control-plane-'));
    try {
      await plane.begin();
    } catch (error) {
      await plane.stop();
      throw error;
    }
    return plane;
  }

  path(name) {
    return join(this.folder, name);
  }

  async begin() {
    this.port = await freePort();
    this.token = randomBytes(16).toString('hex');
    await this.writeKeys();
    const etcd = await phase('etcd starts', () => this.startEtcd());
    await phase('the API server starts', () => this.startApi(etcd));
    await this.writeKubeconfig();
    await phase('controllers and scheduler start', () => this.startControllers());
  }

  async writeKeys() {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await writeFile(this.path('sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
    await writeFile(this.path('sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    await writeFile(this.path('tokens.csv'), `${this.token},admin,admin,system:masters\n`);
  }

  run(name, of) {
    const log = openSync(this.path(`${name}.log`), 'a');
    const child = spawn(CONTROL_PLANE, [name, ...flags(of)], {
      stdio: ['ignore', log, log],
      cwd: this.folder,
    });
    this.processes.push({ name, child });
  }

  /** Waits for a condition, and fails if a process exits first. */
  async ready(what, look) {
    await until(what, async () => {
      if (await look().catch(() => false)) return true;
      return this.processes.some(({ child }) => child.exitCode !== null);
    });
    const ended = this.processes.find(({ child }) => child.exitCode !== null);
    if (ended) throw new Error(`${ended.name} has ended:\n${await this.log(ended.name)}`);
  }

  async log(name) {
    const lines = (await readFile(this.path(`${name}.log`), 'utf8')).split('\n');
    return lines.slice(-LOG_LINES).join('\n');
  }

  async startEtcd() {
    const client = `http://127.0.0.1:${await freePort()}`;
    const peer = `http://127.0.0.1:${await freePort()}`;
    this.run('etcd', {
      'data-dir': this.path('etcd'),
      'listen-client-urls': client,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'initial-cluster': `default=${peer}`,
      'unsafe-no-fsync': true,
      'log-level': 'warn',
    });
    await this.ready('etcd is healthy', async () => (await fetch(`${client}/health`)).ok);
    return client;
  }

  async startApi(etcd) {
    this.run('kube-apiserver', {
      'etcd-servers': etcd,
      'bind-address': '127.0.0.1',
      'advertise-address': '127.0.0.1',
      'secure-port': this.port,
      // The API server writes its self-signed certificate there.
      'cert-dir': this.path('certificates'),
      'token-auth-file': this.path('tokens.csv'),
      'authorization-mode': 'Node,RBAC',
      'service-cluster-ip-range': '10.96.0.0/16',
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': this.path('sa.pub'),
      'service-account-signing-key-file': this.path('sa.key'),
      'endpoint-reconciler-type': 'none',
    });
    this.certificate = this.path('certificates/apiserver.crt');
    await this.ready('the API server is ready', async () => {
      const { port, token } = this;
      this.api = new Api({ port, token, ca: await readFile(this.certificate) });
      return (await this.api.send('GET', '/readyz')).status === 200;
    });
  }

  async writeKubeconfig() {
    this.kubeconfig = this.path('kubeconfig');
    const cluster = {
      server: `https://127.0.0.1:${this.port}`,
      'certificate-authority': this.certificate,
    };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      clusters: [{ name: 'test', cluster }],
      users: [{ name: 'admin', user: { token: this.token } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    };
    await writeFile(this.kubeconfig, stringify(config));
  }

  async startControllers() {
    const own = async () => ({
      kubeconfig: this.kubeconfig,
      'authentication-kubeconfig': this.kubeconfig,
      'authorization-kubeconfig': this.kubeconfig,
      'bind-address': '127.0.0.1',
      'secure-port': await freePort(),
      'leader-elect': false,
    });
    this.run('kube-controller-manager', {
      ...(await own()),
      'cert-dir': this.path('manager'),
      'service-account-private-key-file': this.path('sa.key'),
      'root-ca-file': this.certificate,
      // Simulated nodes report no status.
      'node-monitor-grace-period': '24h',
      'horizontal-pod-autoscaler-sync-period': '2s',
      'horizontal-pod-autoscaler-cpu-initialization-period': '1s',
      'horizontal-pod-autoscaler-initial-readiness-delay': '1s',
    });
    this.run('kube-scheduler', { ...(await own()), 'cert-dir': this.path('scheduler') });
    await this.ready('controllers make accounts', async () =>
      this.api.get('/api/v1/namespaces/default/serviceaccounts/default'),
    );
  }

  async stop() {
    for (const { child } of this.processes.toReversed()) {
      if (child.exitCode !== null || child.pid === undefined) continue;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}
