import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@svc/storage';

const READY_MS = 60_000;
const STOP_MS = 10_000;
const RULES = fileURLToPath(
  new URL('../../../deploy/charts/platform/files/alerts/svc.rules.yml', import.meta.url),
);

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
  private readonly child: ChildProcess;
  private readonly targets: string;

  private constructor(child: ChildProcess, port: number, targets: string) {
    this.child = child;
    this.targets = targets;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Resolves when it responds. Rejects if there is no `prometheus` on the PATH, or if it exits early. */
  static async start(options: PrometheusOptions): Promise<Prometheus> {
    const { folder, port: wanted } = options;
    await mkdir(folder, { recursive: true });
    const config = join(folder, 'prometheus.json');
    const targets = join(folder, 'targets.json');
    // JSON is valid YAML.
    await writeFile(config, JSON.stringify(configOf(options, targets)), { mode: 0o600 });
    await writeFile(targets, targetsOf(options.processes));
    const port = await freePort(wanted);
    const args = [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
      '--enable-feature=exemplar-storage',
    ];
    const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000);
    });
    const failed = once(child, 'error').then(([error]) => Promise.reject(error as Error));
    const ready = awaitReady(`http://127.0.0.1:${port}/-/ready`, () => {
      if (child.exitCode !== null) throw new Error(`prometheus exited with ${child.exitCode}: ${output}`);
    });
    await Promise.race([ready, failed]);
    failed.catch(() => undefined);
    return new Prometheus(child, port, targets);
  }

  /** Scrapes these processes from now on, within seconds; series of others end, as those of deleted pods. */
  async scrape(processes: readonly ScrapedProcess[]): Promise<void> {
    // Prometheus watches the file, and must never read half of it.
    await writeFile(`${this.targets}.new`, targetsOf(processes));
    await rename(`${this.targets}.new`, this.targets);
  }

  async stop(): Promise<void> {
    const child = this.child;
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

function configOf({ token, everySeconds, rules = RULES }: PrometheusOptions, targets: string): object {
  return {
    global: { scrape_interval: `${everySeconds}s`, evaluation_interval: `${everySeconds}s` },
    rule_files: [rules],
    // Each target has its job as a label.
    scrape_configs: [
      { job_name: 'svc', authorization: { credentials: token }, file_sd_configs: [{ files: [targets] }] },
    ],
  };
}

function targetsOf(processes: readonly ScrapedProcess[]): string {
  const jobs = Map.groupBy(processes, ({ job }) => job);
  return JSON.stringify(
    Array.from(jobs, ([job, of]) => ({
      targets: of.map(({ address }) => address),
      labels: { job, ...SERIES_LABELS },
    })),
  );
}
