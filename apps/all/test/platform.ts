import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Simulator, startSimulator } from '@svc/simulator';
import { layServerData } from '@svc/storage/testing';
import { RunningProcess } from '@svc/testing';
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { stringify } from 'yaml';
import { Deployment } from './deployment.js';
import { BASE_ENV, MAIN, ownEnv } from './own-env.js';
import { arrange, isClustered, isTargetFree, sharedLogs } from './target.js';

export { OPERATOR_TOKEN, type OperatorResponse, type TestAccount } from './deployment.js';

/** Default members of the tests' models. */
export const TEST_MODEL = {
  id: 'test-model',
  name: 'Test Model',
  tier: 'XS',
  contextTokens: 131_072,
  maxCompletionTokens: 8_192,
  pricing: { input: 0.15, output: 0.6, cacheInput: 0.075 },
  capabilities: {
    supportsFunctionCalling: true,
    supportsResponseSchema: true,
    supportsLogProbs: true,
    supportsVision: true,
  },
} as const;

/** A model with every capability that a request can use. */
export const ABLE_MODEL = {
  id: 'able',
  capabilities: {
    supportsFunctionCalling: true,
    supportsResponseSchema: true,
    supportsLogProbs: true,
    supportsVision: true,
    supportsMultipleImages: true,
    supportsAudioInput: true,
    supportsVideoInput: true,
    supportsReasoning: true,
    supportsReasoningEffort: true,
  },
} as const;

const TIERS = {
  XS: { standard: { requestsPerMinute: 100_000, tokensPerMinute: 1_000_000_000 } },
  S: { standard: { requestsPerMinute: 3, tokensPerMinute: 10_000 } },
};

/** The types of models whose entries have none of a text model's fields. */

/** A catalogue whose backend is the simulator. */
export function catalogText(
  simulator: Simulator,
  {
    models = [],
    housePrompts,
    web,
    otherLimits,
    cryptoRpc,
  }: Pick<PlatformOptions, 'models' | 'housePrompts' | 'web' | 'otherLimits' | 'cryptoRpc'> = {},
): string {
  const backends = [{ url: `${simulator.url}/v1`, model: 'test-model', maxInFlight: 10_000 }];
  const offered = [TEST_MODEL, ...models].map((model) => ({
    backends,
    ...('type' in model && model.type !== 'text' ? {} : TEST_MODEL),
    ...model,
  }));
  return stringify({ models: offered, tiers: TIERS, otherLimits, housePrompts, cryptoRpc, ...web });
}

export interface PlatformOptions {
  /** Models in addition to `test-model`; the default backend is the simulator. */
  readonly models?: readonly object[];
  readonly env?: Readonly<Record<string, string>>;
  /** The catalogue's system prompts. Default: none. */
  readonly housePrompts?: readonly string[];
  /** The catalogue's members for web search. Default: no search. */
  readonly web?: { readonly search?: object; readonly extras?: object };
  /** The limits of models of other types. Default: none. */
  readonly otherLimits?: object;
  /** The catalogue's blockchain networks. Default: none. */
  readonly cryptoRpc?: object;
  /** The available characters. Default: none. */
  readonly characters?: readonly object[];
  /** Set for tests of its process or its data folder; others may share a process with other files. */
  readonly hasOwnProcess?: boolean;
  /** Set for tests of the very first start; others get a database with existing tables. */
  readonly isFirstStart?: boolean;
  /** The parent of its data folder; default: the system's folder for temporary files. */
  readonly folder?: string;
  /** The compiled main of its process, of another release; default: the current one. */
  readonly main?: string;
  /** Replaces the whole text of the catalogue file. */
  readonly catalogText?: string;
  /** Runs concurrently with the start of the process. */
  readonly whileStarting?: (service: RunningProcess) => Promise<void>;
}

/** Its addresses, and its process if it is a single one. */
interface Served {
  readonly service: RunningProcess | undefined;
  readonly apiUrl: string;
  readonly operatorUrl: string;
  /** Of each gateway, where there are several. */
  readonly gatewayUrls?: readonly string[];
}

interface Home {
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of a shared deployment. */
  readonly mediaDir?: string;
  /** Restores the configuration of a shared deployment. */
  readonly leave?: () => Promise<void>;
}

/**
 * The whole platform in its real process, or in the cluster that the run uses, on a real database and a real
 * model server, as seen by a client.
 */
export class Platform extends Deployment {
  private constructor(
    readonly simulator: Simulator,
    private readonly home: Home,
    private process: Served,
  ) {
    super();
  }

  static async start(options: PlatformOptions = {}): Promise<Platform> {
    leaveConnections();
    const simulator = await startSimulator({ port: 0 });
    const dir = await mkdtemp(join(options.folder ?? tmpdir(), 'svc-e2e-'));
    const catalog = options.catalogText ?? catalogText(simulator, options);
    await writeFile(join(dir, 'catalog.yaml'), catalog);
    const characters = stringify({ characters: options.characters ?? [] });
    await writeFile(join(dir, 'characters.yaml'), characters);
    if (isClustered() || (isSharable(options) && isTargetFree())) {
      const env = { ...BASE_ENV, ...options.env };
      const { leave, ...deployed } = await arrange({ env, catalog, characters });
      return new Platform(
        simulator,
        { dir, env: { ...env, ...deployed.env }, mediaDir: deployed.mediaDir, leave },
        { ...deployed, service: undefined },
      );
    }
    const env = ownEnv({
      SVC_DATA_DIR: join(dir, 'data'),
      SVC_CATALOG: join(dir, 'catalog.yaml'),
      SVC_CHARACTERS: join(dir, 'characters.yaml'),
      ...options.env,
    });
    try {
      if (!options.isFirstStart) await layServerData(join(dir, 'data'));
      return new Platform(simulator, { dir, env }, await startProcess(env, options));
    } catch (error) {
      await simulator.close();
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  override get apiUrl(): string {
    return `${this.process.apiUrl}/api/v1`;
  }

  /** The public URL without the path of the API. */
  get rootUrl(): string {
    return this.process.apiUrl;
  }

  /** The public API of each of its gateways. */
  get gatewayUrls(): readonly string[] {
    return this.process.gatewayUrls?.map((url) => `${url}/api/v1`) ?? [this.apiUrl];
  }

  override get operatorUrl(): string {
    return `${this.process.operatorUrl}/operator/v1`;
  }

  override get fate(): string | undefined {
    const { service } = this.process;
    if (!service || service.exitCode === null) return undefined;
    return `the service has ended with ${service.exitCode}:\n${service.output.slice(-2_000)}`;
  }

  /** Its own process. */
  get service(): RunningProcess {
    const { service } = this.process;
    if (!service) throw new Error('a cluster has many processes, and others are shared unless hasOwnProcess');
    return service;
  }

  /** The output of its processes. */
  log(): Promise<string> {
    return this.home.leave ? sharedLogs() : Promise.resolve(this.service.output);
  }

  /** The environment of its process. */
  get env(): Readonly<Record<string, string>> {
    return this.home.env;
  }

  get dataDir(): string {
    return join(this.home.dir, 'data');
  }

  /** Restarts the process on the same data, after it was stopped or killed; with another main if given. */
  async restart(main = MAIN): Promise<void> {
    this.process = await startProcess(this.home.env, { main });
  }

  /**
   * Kills the process and the children in its group. Its PostgreSQL, which has its own group, keeps
   * running.
   */
  async kill(): Promise<void> {
    await this.service.stop('SIGKILL');
  }

  /** Kills the PostgreSQL of a process that was killed. */
  async killDatabase(): Promise<void> {
    const pidFile = await readFile(join(this.dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
    const pid = Number(pidFile.split('\n')[0]);
    // If it was already shutting down, the file is gone.
    if (pid > 1) process.kill(pid, 'SIGKILL');
  }

  /** Where videos and music are. */
  get mediaDir(): string {
    return this.home.mediaDir ?? join(this.dataDir, 'media');
  }

  /** Restarts the process on the same data, and kills it after this time, whatever its state. */
  async startAndKill(afterMs: number): Promise<void> {
    const starting = RunningProcess.spawn({ main: MAIN, env: this.home.env, ownGroup: true });
    await sleep(afterMs);
    await starting.stop('SIGKILL');
  }

  async stop(): Promise<void> {
    await (this.home.leave ? this.home.leave() : this.service.stop());
    await this.simulator.close();
    await rm(this.home.dir, { recursive: true, force: true });
  }
}

/** How long tests keep a connection that nobody uses; a service keeps it for 75 s. */
const KEPT_MS = 10_000;

/**
 * A process may close a connection that nobody has used for long, at the moment when a test sends a request
 * on it.
 */
function leaveConnections(): void {
  const dispatcher = getGlobalDispatcher();
  setGlobalDispatcher(new Agent({ keepAliveTimeout: KEPT_MS, keepAliveMaxTimeout: KEPT_MS }));
  // Requests under way end first, whenever that is.
  dispatcher.close().catch(() => undefined);
}

/** Whether the process of the worker can be configured so without a restart. */
function isSharable({ env, hasOwnProcess, isFirstStart, folder, whileStarting }: PlatformOptions): boolean {
  return !env && !hasOwnProcess && !isFirstStart && folder === undefined && !whileStarting;
}

async function startProcess(
  env: Readonly<Record<string, string>>,
  { main = MAIN, whileStarting }: Pick<PlatformOptions, 'main' | 'whileStarting'> = {},
): Promise<Served> {
  const ready = /API {2,}(http:\S+)\/api\/v1\n.*Operator API +(http:\S+)\/operator\/v1/;
  const service = RunningProcess.spawn({ main, env, ownGroup: true });
  const [match] = await Promise.all([service.matching(ready), whileStarting?.(service)]);
  return { service, apiUrl: match[1] ?? '', operatorUrl: match[2] ?? '' };
}
