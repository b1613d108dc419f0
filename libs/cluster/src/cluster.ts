import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EVENTS } from '@svc/contracts/messages';
import { createTopics, kafkaConnection, topicTerms, topicsConfig } from '@svc/events';
import { type Environment, loadConfig } from '@svc/runtime';
import { freePorts, migrate } from '@svc/storage';
import { Balancer, type BalancerTarget } from './balancer.js';
import { environments } from './environment.js';
import {
  KINDS,
  type Kind,
  OWN_CHECKOUT,
  type ReplicaCounts,
  type SharedSettings,
  kinds,
  mainOf,
} from './kinds.js';
import { ReplicaProcess } from './replica-process.js';

const run = promisify(execFile);

export interface ClusterOptions {
  readonly shared: SharedSettings;
  /** Further settings. Each process gets those that it reads. */
  readonly env?: Environment;
  /** Default: one of each kind. */
  readonly replicas?: ReplicaCounts;
  /** The folder for logs and journals. */
  readonly folder: string;
  /** The balancer's address; default: free ports. */
  readonly host?: string;
  readonly port?: number;
  readonly operatorPort?: number;
  /** The checkout whose code runs; default: this one. */
  readonly checkout?: string;
  /** Called with the events of processes. */
  readonly onEvent?: (name: string, what: string) => void;
}

/** A process with metrics: the name of its service, and its address. */
interface ScrapedProcess {
  readonly job: string;
  readonly address: string;
}

interface Planned {
  readonly kind: Kind;
  readonly name: string;
  readonly ports: readonly number[];
}

interface OtherSettings {
  /** Replace shared settings. */
  readonly instead?: Environment;
  /** The checkout whose processes read them; default: the one that the cluster was started with. */
  readonly checkout?: string;
}

/** Builds the environment of a process from the cluster's settings. */
type EnvironmentOf = (process: Planned, env: Environment, others?: OtherSettings) => Promise<Environment>;

/**
 * All services as processes of this machine, with any number of replicas, and a balancer in front of the
 * gateways.
 */
export class Cluster {
  private constructor(
    private readonly processes: ReadonlyMap<Kind, readonly ReplicaProcess[]>,
    private readonly balancers: { readonly api: Balancer; readonly operator: Balancer },
    private readonly layout: {
      readonly envOf: EnvironmentOf;
      readonly env: Environment;
      readonly planned: readonly Planned[];
      readonly metrics: readonly ScrapedProcess[];
      readonly sockets: string;
    },
  ) {}

  /**
   * Migrates the database, creates the topics and starts everything; resolves when all processes are ready.
   */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const { shared, env = {}, folder, host = '127.0.0.1', checkout: first = OWN_CHECKOUT } = options;
    await mkdir(folder, { recursive: true });
    // Journals contain balances, and logs may contain secrets by mistake.
    await chmod(folder, 0o700);
    if (first === OWN_CHECKOUT) await prepareServers(env, shared);
    else await prepareServersBy(first, { ...env, ...shared });
    const planned = await plan(options);
    const urls = addresses(planned);
    // Only this user may enter it, and its path is short enough for a socket.
    const sockets = await mkdtemp(join(tmpdir(), 'svc-gateways-'));
    const socketOf = (name: string): string => join(sockets, `${name}.sock`);
    const envOf: EnvironmentOf = async (
      { kind, name, ports },
      given,
      { instead = {}, checkout = first } = {},
    ) => {
      const ownOf = await environments(checkout);
      const own = {
        ...portsOf(ports),
        LEDGER_JOURNAL_DIR: join(folder, 'journals', name),
        GATEWAY_PROXY_LISTEN: socketOf(name),
      };
      return ownOf(kind, {
        HOST: '127.0.0.1',
        // Done before any of them starts.
        LEDGER_MIGRATE: 'false',
        MEDIA_DIR: join(folder, 'media'),
        ...urls,
        ...given,
        ...shared,
        ...instead,
        ...own,
      });
    };
    const processes = new Map<Kind, ReplicaProcess[]>(kinds.map((kind) => [kind, []]));
    try {
      for (const one of planned)
        processes.get(one.kind)?.push(startOne(one, { ...options, env: await envOf(one, env) }));
      await Promise.all([...processes.values()].flat().map((service) => service.ready()));
      const gateways = processes.get('gateway') ?? [];
      const apiSides = gateways.map((gateway) => new GatewaySide({ path: socketOf(gateway.name) }, gateway));
      const operatorSides = planned
        .filter(({ kind }) => kind === 'gateway')
        .map(({ ports }, at) => new GatewaySide({ port: ports[1] ?? 0 }, gateways[at]));
      const api = await Balancer.listen(apiSides, { host, port: options.port ?? 0, namesClients: true });
      const operator = await Balancer.listen(operatorSides, { host, port: options.operatorPort ?? 0 });
      return new Cluster(
        processes,
        { api, operator },
        { envOf, env, planned, metrics: metricsOf(planned), sockets },
      );
    } catch (error) {
      await Promise.all([...processes.values()].flat().map((service) => service.stop()));
      await rm(sockets, { recursive: true, force: true });
      throw error;
    }
  }

  /** The metrics address of each process. */
  get metrics(): readonly ScrapedProcess[] {
    return this.layout.metrics;
  }

  get url(): string {
    return this.balancers.api.url;
  }

  get operatorUrl(): string {
    return this.balancers.operator.url;
  }

  replicas(kind: Kind): readonly ReplicaProcess[] {
    return this.processes.get(kind) ?? [];
  }

  get all(): readonly ReplicaProcess[] {
    return [...this.processes.values()].flat();
  }

  /**
   * Restarts every process of a kind, one after the other; if given, `env` replaces its settings, including
   * shared ones.
   */
  async rollingRestart(kind: Kind, env?: Environment): Promise<void> {
    for (const service of this.replicas(kind)) {
      const planned = this.layout.planned.find(({ name }) => name === service.name);
      await service.restart(planned && env && (await this.layout.envOf(planned, env, { instead: env })));
    }
  }

  /** Restarts one process with the code of another checkout, as an upgrade or a rollback does. */
  async replace(service: ReplicaProcess, checkout = OWN_CHECKOUT): Promise<void> {
    const { planned, envOf, env } = this.layout;
    const found = planned.find(({ name }) => name === service.name);
    if (!found) throw new Error(`${service.name} is not of this cluster`);
    await service.restart(await envOf(found, env, { checkout }), mainOf(found.kind, checkout));
  }

  /**
   * Sets the settings in addition to the cluster's own, and restarts processes, all at once: gateways and
   * routers whose settings change, or every process if those of another one do, because its neighbours may
   * remember what it said. Returns the restarted ones.
   */
  async rearrange(env: Environment): Promise<readonly ReplicaProcess[]> {
    const changed: ReplicaProcess[] = [];
    for (const planned of this.layout.planned) {
      const service = this.all.find(({ name }) => name === planned.name);
      if (service?.setEnv(await this.layout.envOf(planned, env))) changed.push(service);
    }
    const alone = [...this.replicas('gateway'), ...this.replicas('router')];
    const restarted = changed.every((service) => alone.includes(service)) ? changed : this.all;
    await Promise.all(restarted.map((service) => service.restart()));
    return restarted;
  }

  /** Resolves when everything is ready. */
  async ready(): Promise<void> {
    await Promise.all(this.all.map((service) => service.ready()));
  }

  /**
   * Lets open responses finish, then stops everything, the gateways first. Returns the names of processes
   * that had to be killed.
   */
  async stop(): Promise<string[]> {
    this.balancers.api.stopListening();
    this.balancers.operator.stopListening();
    const killed: string[] = [];
    for (const kind of kinds.toReversed()) {
      await Promise.all(
        this.replicas(kind).map(async (service) => {
          if ((await service.stop()) !== 0) killed.push(service.name);
        }),
      );
    }
    this.balancers.api.close();
    this.balancers.operator.close();
    await rm(this.layout.sockets, { recursive: true, force: true });
    return killed;
  }
}

/** A listener of a gateway, as ready as the gateway. */
class GatewaySide implements BalancerTarget {
  constructor(
    readonly place: BalancerTarget['place'],
    private readonly gateway: ReplicaProcess | undefined,
  ) {}

  get isReady(): boolean {
    return this.gateway?.isReady ?? false;
  }
}

/** Migrates the tables and creates the topics. */
async function prepareServers(env: Environment, shared: SharedSettings): Promise<void> {
  await migrate(shared.DATABASE_URL);
  const topics = loadConfig(topicsConfig, { ...env, ...shared });
  await createTopics(kafkaConnection(topics), EVENTS, topicTerms(topics));
}

/** The same by the commands of another checkout. */
async function prepareServersBy(checkout: string, env: Environment): Promise<void> {
  for (const command of ['migrate', 'topics'])
    await run(process.execPath, [join(checkout, 'tools', `${command}.mjs`)], { env: { ...env } });
}

async function plan({ replicas = {}, env = {} }: ClusterOptions): Promise<Planned[]> {
  const wanted = kinds
    // The catalogue's simulator may be somewhere else.
    .filter((kind) => kind !== 'simulator' || env['ROUTER_SIMULATOR_URL'] === undefined)
    .flatMap((kind) => {
      const count = replicas[kind] ?? KINDS[kind].replicas;
      return Array.from({ length: count }, (_, at) => ({ kind, name: `${kind}-${at + 1}` }));
    });
  const ports = await freePorts(wanted.reduce((sum, { kind }) => sum + KINDS[kind].ports, 0));
  return wanted.map((one) => ({ ...one, ports: ports.splice(0, KINDS[one.kind].ports) }));
}

/** The simulator has no metrics; processes with an operator's port serve them there. */
const metricsOf = (planned: readonly Planned[]): readonly ScrapedProcess[] =>
  planned
    .filter(({ kind }) => kind !== 'simulator')
    .map(({ kind, ports }) => ({ job: KINDS[kind].app, address: `127.0.0.1:${ports.at(-1)}` }));

/** The addresses of all processes, in the variables that other processes read. */
function addresses(planned: readonly Planned[]): Record<string, string> {
  const urls: Record<string, string> = {};
  for (const { kind, ports } of planned) {
    const [port = 0] = ports;
    const options = KINDS[kind];
    if (kind === 'simulator') {
      urls['ROUTER_SIMULATOR_URL'] = `http://127.0.0.1:${port}/v1`;
      urls['RETRIEVAL_SIMULATOR_URL'] = `http://127.0.0.1:${port}`;
    }
    if (!('urlVariable' in options)) continue;
    const { [options.urlVariable]: others } = urls;
    const url = `http://127.0.0.1:${port}`;
    urls[options.urlVariable] = others === undefined ? url : `${others},${url}`;
  }
  return urls;
}

const portsOf = ([port = 0, operatorPort = 0]: readonly number[]): Environment => ({
  PORT: String(port),
  OPERATOR_PORT: String(operatorPort),
});

function startOne(
  { kind, name, ports }: Planned,
  { folder, env = {}, checkout = OWN_CHECKOUT, onEvent }: ClusterOptions,
): ReplicaProcess {
  const [port = 0] = ports;
  const options = KINDS[kind];
  return new ReplicaProcess({
    name,
    main: mainOf(kind, checkout),
    ...(kind === 'simulator' && { args: ['--port', String(port)] }),
    env,
    port,
    ...('readyPath' in options && { readyPath: options.readyPath }),
    logPath: join(folder, `${name}.log`),
    onEvent: (what) => onEvent?.(name, what),
  });
}
