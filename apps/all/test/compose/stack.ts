import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@svc/storage';
import { type Infra, temporaryInfra } from '@svc/infra';
import { parse } from 'yaml';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const DEPLOY = join(ROOT, 'deploy');
const FILE = join(DEPLOY, 'compose.yaml');

/** Time limits for a service to become healthy or to complete, and to stop. */
const START_MS = 90_000;
const STOP_MS = 60_000;
const POLL_MS = 200;

/** Services that run as locally installed programs. */
const SERVERS = ['kafka', 'redis', 'postgres'];

interface ComposeEntry {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly volumes?: readonly string[];
  readonly profiles?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

interface Container {
  readonly child: ChildProcess;
  readonly env: Readonly<Record<string, string>>;
  output: string;
}

/**
 * Runs the services of compose.yaml as local processes, in the order of their dependencies, with their
 * commands, environments, mounts and health checks. Names and ports of the Compose network become free local
 * ports.
 */
export class ComposeStack {
  private readonly containers = new Map<string, Container>();
  private readonly starts = new Map<string, Promise<void>>();
  private readonly ports = new Map<string, Promise<number>>();
  private readonly volumes = new Map<string, string>();
  private readonly given = new Map<string, string>();

  private constructor(
    private readonly services: Readonly<Record<string, ComposeEntry>>,
    private readonly infra: Infra,
    private readonly servers: Readonly<Record<string, string>>,
  ) {}

  static async start(): Promise<ComposeStack> {
    const { services } = parse(await readFile(FILE, 'utf8'), { merge: true }) as {
      services: Record<string, ComposeEntry>;
    };
    const infra = await temporaryInfra();
    const stack = new ComposeStack(services, infra, await infra.up());
    try {
      const names = Object.entries(services)
        .filter(([name, { profiles }]) => !SERVERS.includes(name) && !profiles)
        .map(([name]) => name);
      await Promise.all(names.map((name) => stack.ready(name)));
      return stack;
    } catch (error) {
      await stack.stop();
      throw error;
    }
  }

  /** The value of an operator's secret. */
  secret(name: string): string {
    const value = this.given.get(name) ?? randomBytes(32).toString('hex');
    this.given.set(name, value);
    return value;
  }

  /** The local address of a service's port. */
  async url(service: string, port: number): Promise<string> {
    return `http://127.0.0.1:${await this.port(`${service}:${port}`)}`;
  }

  output(name: string): string {
    return this.containers.get(name)?.output ?? '';
  }

  /** Runs a one-off service again. */
  async again(name: string): Promise<string> {
    await this.begin(name);
    return this.output(name);
  }

  /** Stops everything like a container engine. Returns the services that did not exit with 0. */
  async stop(): Promise<string[]> {
    const ended = await Promise.all(
      [...this.containers].map(async ([name, { child }]) => {
        if (child.exitCode === null && child.signalCode === null) {
          const exited = once(child, 'exit');
          child.kill('SIGTERM');
          const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
          await exited;
          clearTimeout(timer);
        }
        return child.exitCode === 0 ? [] : [`${name}: ${child.signalCode ?? child.exitCode}`];
      }),
    );
    await this.infra.wipe();
    for (const folder of this.volumes.values()) await rm(folder, { recursive: true, force: true });
    return ended.flat();
  }

  private ready(name: string): Promise<void> {
    const starting = this.starts.get(name) ?? this.begin(name);
    this.starts.set(name, starting);
    return starting;
  }

  /** Starts a service once its dependencies are ready; resolves when it is ready itself, or has completed. */
  private async begin(name: string): Promise<void> {
    const { command = [], depends_on: before = {} } = this.service(name);
    const others = Object.keys(before).filter((one) => !SERVERS.includes(one));
    await Promise.all(others.map((other) => this.ready(other)));
    const env = await this.environment(name);
    const [program, ...args] = await Promise.all(command.map((part) => this.localText(name, part)));
    if (program !== 'node') throw new Error(`${name} runs ${String(program)}`);
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const container: Container = { child, env, output: '' };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (container.output += text));
    this.containers.set(name, container);
    await this.served(name, container);
  }

  /** Resolves once a service is healthy, or has completed if it has no health check. */
  private async served(name: string, container: Container): Promise<void> {
    const { healthcheck } = this.service(name);
    for (const endMs = performance.now() + START_MS; performance.now() < endMs; await sleep(POLL_MS)) {
      const { exitCode } = container.child;
      if (!healthcheck && exitCode === 0) return;
      if (exitCode !== null) break;
      if (healthcheck && (await this.isHealthy(name, healthcheck.test, container))) return;
    }
    throw new Error(`${name} is not ready:\n${container.output}`);
  }

  private async isHealthy(name: string, test: readonly string[], { env }: Container): Promise<boolean> {
    const [, , ...args] = await Promise.all(test.map((part) => this.localText(name, part)));
    const check = spawn(process.execPath, args, { env, stdio: 'ignore' });
    const [code] = (await once(check, 'exit')) as [number | null];
    return code === 0;
  }

  private service(name: string): ComposeEntry {
    const service = this.services[name];
    if (!service) throw new Error(`there is no service ${name}`);
    return service;
  }

  /** The environment of the image, then that of compose.yaml, with the local servers. */
  private async environment(name: string): Promise<Record<string, string>> {
    const { environment = {}, volumes = [] } = this.service(name);
    const env: Record<string, string> = { PATH: process.env['PATH'] ?? '', HOST: '127.0.0.1' };
    for (const [variable, value] of Object.entries(environment)) {
      let text = await this.localText(name, this.substituted(String(value)));
      if (/^(OPERATOR_)?PORT$/.test(variable)) text = String(await this.port(`${name}:${text}`));
      for (const volume of volumes) {
        const [source = '', target = ''] = this.substituted(volume).split(':');
        if (text.startsWith(target)) text = (await this.source(source)) + text.slice(target.length);
      }
      env[variable] = this.servers[variable] ?? text;
    }
    return env;
  }

  /**
   * Substitutes `${NAME:-default}`, `${NAME:?why}` and `${NAME}` like Compose; only the secrets are given.
   */
  private substituted(value: string): string {
    return value.replaceAll(/\$\{\w+(?::[-?][^}]*)?\}/g, (variable) => {
      const [, name = '', sign, text = ''] = /^\$\{(\w+)(?::([-?])(.*))?\}$/.exec(variable) ?? [];
      return sign === '-' ? text : this.secret(name);
    });
  }

  /** Replaces addresses of the Compose network, and a service's own ports, by local ones. */
  private async localText(name: string, text: string): Promise<string> {
    const { PORT: own } = this.service(name).environment ?? {};
    let local = text.replaceAll('0.0.0.0', '127.0.0.1');
    for (const [address, service = '', port = ''] of text.matchAll(/([a-z][\w-]*|127\.0\.0\.1):(\d+)/g)) {
      const owner = service === '127.0.0.1' ? name : service;
      if (!(owner in this.services)) continue;
      local = local.replace(address, `127.0.0.1:${await this.port(`${owner}:${port}`)}`);
    }
    // The port in the flags of a program without settings.
    if (own === undefined && /^\d{4}$/.test(text)) local = String(await this.port(`${name}:${text}`));
    return local;
  }

  /** A file or folder of the repository, or a temporary folder for a named volume. */
  private async source(name: string): Promise<string> {
    if (/^\.{1,2}\//.test(name)) return resolve(DEPLOY, name);
    const folder = this.volumes.get(name) ?? (await mkdtemp(join(tmpdir(), `svc-compose-${name}-`)));
    this.volumes.set(name, folder);
    return folder;
  }

  /** Calls at the same time get the same port. */
  private port(address: string): Promise<number> {
    const port = this.ports.get(address) ?? freePort();
    this.ports.set(address, port);
    return port;
  }
}
