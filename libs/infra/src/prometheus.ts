import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@svc/storage';

const READY_MS = 60_000;
const STOP_MS = 10_000;
const RULES = fileURLToPath(new URL('../../../deploy/alerts/svc.rules.yml', import.meta.url));

/** The label by which the rules distinguish the series of this deployment. */
const SERIES_LABELS = { release: 'svc' };

/** A process with metrics. */
export interface ScrapedProcess {
  /** The name of its service. */
  readonly job: string;
  /** Host and port. */
  readonly address: string;
}

export interface PrometheusOptions {
  /** The folder for its data, and for its configuration with the token. */
  readonly folder: string;
  readonly processes: readonly ScrapedProcess[];
  /** The token for the processes' metrics. */
  readonly token: string;
  /** How often it scrapes and evaluates rules. */
  readonly everySeconds: number;
  /** The alerting rules; default: those of the deployment. */
  readonly rules?: string;
  /** Its port; default: a free one. */
  readonly port?: number;
}

/** Prometheus on this machine, scraping processes of the platform and evaluating the alerting rules. */
export class Prometheus {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Resolves when it responds. Rejects if there is no `prometheus` on the PATH, or if it exits early. */
  static async start(options: PrometheusOptions): Promise<Prometheus> {
    const { folder, port: wanted } = options;
    await mkdir(folder, { recursive: true });
    const config = join(folder, 'prometheus.json');
    // JSON is valid YAML.
    await writeFile(config, JSON.stringify(configOf(options)), { mode: 0o600 });
    const port = await freePort(wanted);
    const args = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
      '--enable-feature=exemplar-storage',
    ];
    const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000);
    });
    const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
    const ready = awaitReady(`http://127.0.0.1:${port}/-/ready`, () => {
      if (child.exitCode !== null) throw new Error(`prometheus exited with ${child.exitCode}: ${said}`);
    });
    await Promise.race([ready, failed]);
    failed.catch(() => undefined);
    return new Prometheus(child, port);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(timer);
  }
}

async function awaitReady(url: string, check: () => void): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    check();
    const response = await fetch(url, { signal: AbortSignal.timeout(READY_MS) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
    if (Date.now() > deadline) throw new Error('prometheus was not ready before the deadline');
    await sleep(100);
  }
}

function configOf({ processes, token, everySeconds, rules = RULES }: PrometheusOptions): object {
  const jobs = Map.groupBy(processes, ({ job }) => job);
  return {
    global: { scrape_interval: `${everySeconds}s`, evaluation_interval: `${everySeconds}s` },
    rule_files: [rules],
    scrape_configs: Array.from(jobs, ([job, of]) => ({
      job_name: job,
      authorization: { credentials: token },
      static_configs: [{ targets: of.map(({ address }) => address), labels: SERIES_LABELS }],
    })),
  };
}
