import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, type ClusterOptions, type ReplicaCounts, internalTokens } from '@svc/cluster';
import { type Infra, temporaryInfra } from '@svc/infra';
import { type Simulator, startSimulator } from '@svc/simulator';
import { Deployment, OPERATOR_TOKEN } from '../deployment.js';
import { catalogText } from '../platform.js';

interface Home {
  readonly folder: string;
  readonly simulator: Simulator;
  /** The addresses of the servers. */
  readonly servers: Readonly<Record<string, string>>;
  /** What the processes did, such as exits. */
  readonly processEvents: string[];
  readonly options: ClusterOptions;
}

interface ClusterParts {
  /** Models in addition to the default ones, for the URL of the simulator. */
  readonly models?: readonly ((url: string) => object)[];
  /** The checkout whose code runs; default: this one. */
  readonly checkout?: string;
}

/** Every service as a process, on its own servers, for fault tests. */
export class ClusterDeployment extends Deployment {
  private constructor(
    readonly infra: Infra,
    public cluster: Cluster,
    private readonly home: Home,
  ) {
    super();
  }

  static async start(
    replicas: ReplicaCounts,
    env: Readonly<Record<string, string>> = {},
    { models = [], checkout }: ClusterParts = {},
  ): Promise<ClusterDeployment> {
    const [infra, simulator] = [await temporaryInfra(), await startSimulator({ port: 0 })];
    const folder = await mkdtemp(join(tmpdir(), 'svc-cluster-faults-'));
    const processEvents: string[] = [];
    try {
      const files = {
        SVC_CATALOG: join(folder, 'catalog.yaml'),
        SVC_CHARACTERS: join(folder, 'characters.yaml'),
      };
      await writeFile(
        files.SVC_CATALOG,
        catalogText(simulator, { models: models.map((of) => of(simulator.url)) }),
      );
      await writeFile(files.SVC_CHARACTERS, 'characters: []\n');
      const servers = await infra.up();
      const options: ClusterOptions = {
        shared: {
          ...servers,
          SVC_OPERATOR_TOKEN: OPERATOR_TOKEN,
          ...internalTokens(env),
        },
        env: {
          PATH: process.env['PATH'],
          ...files,
          ROUTER_SIMULATOR_URL: 'http://127.0.0.1:9/v1',
          GATEWAY_FAILURE_BLOCK: 'off',
          ...env,
        },
        replicas,
        folder,
        ...(checkout !== undefined && { checkout }),
        onEvent: (name, what) => processEvents.push(`${name} ${what}`),
      };
      const home = { folder, simulator, servers, processEvents, options };
      return new ClusterDeployment(infra, await Cluster.start(options), home);
    } catch (error) {
      await simulator.close();
      await infra.wipe();
      throw error;
    }
  }

  get folder(): string {
    return this.home.folder;
  }

  /** The addresses of its servers. */
  get servers(): Readonly<Record<string, string>> {
    return this.home.servers;
  }

  /** The environment that its processes were started with. */
  get settings(): Readonly<Record<string, string | undefined>> {
    const { env, shared } = this.home.options;
    return { ...env, ...shared };
  }

  override get apiUrl(): string {
    return `${this.cluster.url}/api/v1`;
  }

  override get operatorUrl(): string {
    return `${this.cluster.operatorUrl}/operator/v1`;
  }

  override get fate(): string | undefined {
    return undefined;
  }

  /** Processes that exited by themselves since the last call, and how. */
  takeEnds(): string[] {
    return this.home.processEvents.splice(0).filter((line) => line.includes('ended with'));
  }

  /** The public API of each of its gateways. */
  get gatewayUrls(): readonly string[] {
    return this.cluster.replicas('gateway').map(({ port }) => `http://127.0.0.1:${port}/api/v1`);
  }

  /** Stops every process. Its servers keep running. */
  async stopProcesses(): Promise<void> {
    const killed = await this.cluster.stop();
    if (killed.length > 0) throw new Error(`they did not end well: ${killed.join(', ')}`);
  }

  /** Restarts every process with additional settings. They listen on new ports. */
  async startProcesses(env: Readonly<Record<string, string>>): Promise<void> {
    const { options } = this.home;
    this.cluster = await Cluster.start({ ...options, env: { ...options.env, ...env } });
  }

  async stop(): Promise<void> {
    try {
      await this.stopProcesses();
    } finally {
      await this.home.simulator.close();
      await this.infra.wipe();
      await rm(this.home.folder, { recursive: true, force: true });
    }
  }
}
