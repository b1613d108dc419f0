import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@svc/storage';
import { type Installed, type StartedProgram, openPython } from '../clients/environments.js';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** The first request of a kind may be slow. */
export const REQUEST_MS = 240_000;
/** A server imports torch, which takes minutes on a busy machine. */
export const START_MS = 900_000;

/** Offline, and with one thread: several would wait for each other in busy loops. */
const SETTINGS = {
  HF_HUB_OFFLINE: '1',
  VLLM_NO_USAGE_STATS: '1',
  VLLM_CPU_KVCACHE_SPACE: '1',
  VLLM_CPU_OMP_THREADS_BIND: 'nobind',
  OMP_NUM_THREADS: '1',
  TOKENIZERS_PARALLELISM: 'false',
};

/** A Python with vLLM for CPUs and transformers' server. */
export const openServers = (): Promise<Installed | undefined> =>
  openPython({ requirements: join(HERE, 'vllm-requirements.txt'), env: { PIP_NO_DEPS: '1' } });

/** Servers of tiny models with random weights, in a folder of their own. */
export class TinyServers {
  private readonly started: StartedProgram[] = [];

  private constructor(
    private readonly python: Installed,
    readonly folder: string,
  ) {}

  static async begin(python: Installed | undefined): Promise<TinyServers> {
    if (!python) throw new Error('no Python');
    const folder = await mkdtemp(join(tmpdir(), 'svc-vllm-'));
    const written = await python.run('python', [join(HERE, 'tiny_models.py'), folder], {
      deadlineMs: START_MS,
    });
    if (written.code !== 0) throw new Error(`no model: ${written.stderr}`);
    return new TinyServers(python, folder);
  }

  /** The path of the chat model. */
  get chat(): string {
    return join(this.folder, 'chat');
  }

  /** The path of the embedding model. */
  get embedding(): string {
    return join(this.folder, 'embedding');
  }

  /** Starts a server, and returns the URL of its API. */
  async serve(program: string, args: readonly string[], rest: string): Promise<string> {
    const port = await freePort();
    const address = ['--host', '127.0.0.1', '--port', `${port}`];
    const ready = /Application startup complete/;
    this.started.push(
      await this.python.start(program, [...args, ...address, ...rest.split(' ')], {
        ready,
        deadlineMs: START_MS,
        env: SETTINGS,
      }),
    );
    return `http://127.0.0.1:${port}/v1`;
  }

  async stop(): Promise<void> {
    for (const server of this.started) await server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
