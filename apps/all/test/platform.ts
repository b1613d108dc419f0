import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Simulator, startSimulator } from '@svc/simulator';
import { layServerData } from '@svc/storage/testing';
import { RunningProcess } from '@svc/testing';
import OpenAI from 'openai';
import { stringify } from 'yaml';

/** The process as an operator starts it. */
export const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

export const OPERATOR_TOKEN = 'operator-token-of-the-tests-of-the-platform';

/** A model as the tests offer it; what a test does not say has these values. */
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

const TIERS = {
  XS: { standard: { requestsPerMinute: 100_000, tokensPerMinute: 1_000_000_000 } },
  S: { standard: { requestsPerMinute: 3, tokensPerMinute: 10_000 } },
};

export interface PlatformOptions {
  /** Models beside `test-model`; their backend is the simulator unless they name one. */
  readonly models?: readonly object[];
  readonly env?: Readonly<Record<string, string>>;
  /** The catalogue's system prompts. Default: none. */
  readonly housePrompts?: readonly string[];
  /** The characters on offer. Default: none. */
  readonly characters?: readonly object[];
  /** Set for a test of the very first start; others find a database that was set up before. */
  readonly isFirstStart?: boolean;
  /** Where the folder with its data is made; default: the system's for temporary files. */
  readonly folder?: string;
  /** Replaces the catalogue file's whole text. */
  readonly catalogText?: string;
}

export interface TestAccount {
  readonly id: string;
  readonly apiKey: string;
  readonly openai: OpenAI;
}

export interface OperatorAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** The whole platform in its real process, on a real database and a real model server, as a client meets it. */
export class Platform {
  private constructor(
    readonly simulator: Simulator,
    private readonly home: { dir: string; env: Readonly<Record<string, string>> },
    private process: { service: RunningProcess; apiUrl: string; operatorUrl: string },
  ) {}

  static async start(options: PlatformOptions = {}): Promise<Platform> {
    const simulator = await startSimulator({ port: 0 });
    const dir = await mkdtemp(join(options.folder ?? tmpdir(), 'svc-e2e-'));
    const backends = [{ url: `${simulator.url}/v1`, model: 'test-model', maxInFlight: 10_000 }];
    const models = [TEST_MODEL, ...(options.models ?? [])].map((model) => ({
      backends,
      ...TEST_MODEL,
      ...model,
    }));
    const catalog =
      options.catalogText ?? stringify({ models, tiers: TIERS, housePrompts: options.housePrompts });
    await writeFile(join(dir, 'catalog.yaml'), catalog);
    await writeFile(join(dir, 'characters.yaml'), stringify({ characters: options.characters ?? [] }));
    const env = {
      PATH: process.env['PATH'] ?? '',
      PORT: '0',
      OPERATOR_PORT: '0',
      SVC_DATA_DIR: join(dir, 'data'),
      SVC_CATALOG: join(dir, 'catalog.yaml'),
      SVC_CHARACTERS: join(dir, 'characters.yaml'),
      SVC_OPERATOR_TOKEN: OPERATOR_TOKEN,
      // Most files fail on purpose, many times over; the one about the protection switches it on.
      GATEWAY_FAILURE_BLOCK: 'off',
      ...options.env,
    };
    try {
      if (!options.isFirstStart) await layServerData(join(dir, 'data'));
      return new Platform(simulator, { dir, env }, await startProcess(env));
    } catch (error) {
      await simulator.close();
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  get apiUrl(): string {
    return `${this.process.apiUrl}/api/v1`;
  }

  /** The public address without the path of the API. */
  get rootUrl(): string {
    return this.process.apiUrl;
  }

  get operatorUrl(): string {
    return `${this.process.operatorUrl}/operator/v1`;
  }

  get service(): RunningProcess {
    return this.process.service;
  }

  /** The settings of its process. */
  get env(): Readonly<Record<string, string>> {
    return this.home.env;
  }

  get dataDir(): string {
    return join(this.home.dir, 'data');
  }

  /** Starts the process again on the same data, after it was stopped or killed. */
  async restart(): Promise<void> {
    this.process = await startProcess(this.home.env);
  }

  /** Ends the process and what it has started in its group, at once. Its PostgreSQL, in a group of its own, goes on. */
  async kill(): Promise<void> {
    await this.service.stop('SIGKILL');
  }

  /** Ends the PostgreSQL of a process that was killed, at once. */
  async killDatabase(): Promise<void> {
    const pidFile = await readFile(join(this.dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
    const pid = Number(pidFile.split('\n')[0]);
    // Its last words may have been a shutdown, and then the file has gone.
    if (pid > 1) process.kill(pid, 'SIGKILL');
  }

  /** Starts the process again on the same data, and kills it after this time, whatever it is doing then. */
  async startAndKill(afterMs: number): Promise<void> {
    const starting = RunningProcess.spawn({ main: MAIN, env: this.home.env, ownGroup: true });
    await sleep(afterMs);
    await starting.stop('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.simulator.close();
    await rm(this.home.dir, { recursive: true, force: true });
  }

  /** Asks the operator's API. */
  async operator(method: string, path: string, body?: unknown): Promise<OperatorAnswer> {
    const response = await fetch(this.operatorUrl + path, {
      method,
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /** Opens an account with so many USD and an inference key. */
  async account(usd = '10.00', account: object = {}): Promise<TestAccount> {
    const { body } = await this.operator('POST', '/accounts', { name: 'test', ...account });
    const id = String(body['id']);
    if (Number(usd) > 0) await this.operator('POST', `/accounts/${id}/credits`, { usd, reference: 'start' });
    const key = await this.operator('POST', `/accounts/${id}/api_keys`, {
      apiKeyType: 'INFERENCE',
      description: '',
    });
    const apiKey = String(key.body['apiKey']);
    return { id, apiKey, openai: new OpenAI({ apiKey, baseURL: this.apiUrl, maxRetries: 0 }) };
  }

  /** Posts a chat completion as it is written here. */
  chat(apiKey: string, body: unknown, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.apiUrl}/chat/completions`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...init.headers },
    });
  }

  /** What the account has, as decimal strings. */
  async balances(id: string): Promise<{ usd: string; diem: string }> {
    const { body } = await this.operator('GET', `/accounts/${id}`);
    return body['balances'] as { usd: string; diem: string };
  }

  audit(): Promise<OperatorAnswer> {
    return this.operator('GET', '/ledger/audit');
  }
}

async function startProcess(
  env: Readonly<Record<string, string>>,
): Promise<{ service: RunningProcess; apiUrl: string; operatorUrl: string }> {
  const ready = /API {2,}(http:\S+)\/api\/v1\n.*Operator API +(http:\S+)\/operator\/v1/;
  const { service, match } = await RunningProcess.start({ main: MAIN, env, ownGroup: true }, ready);
  return { service, apiUrl: match[1] ?? '', operatorUrl: match[2] ?? '' };
}
