import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '@svc/storage';
import { cacheFolder } from './kafka-download.js';
import { responds } from './ports.js';
import type { ServerEnvironment } from './server.js';

const run = promisify(execFile);

const VERSION = 'v1.8.0';
const PROGRAM = 'github.com/versity/versitygw/cmd/versitygw';
/** A build takes two minutes of a processor. */
const BUILD_MS = 1_800_000;
const START_MS = 60_000;

const BUCKET = 'media';

/**
 * A server of S3 on this machine: the Versity S3 Gateway, on a folder of its own. It checks signatures and
 * checksums. Needs Go 1.26 or later at its first start, unless `buildS3` has built it.
 */
export class LocalS3 {
  private constructor(
    private server: ChildProcess,
    private readonly folder: string,
    private readonly place: { readonly program: string; readonly port: number; readonly secret: string },
  ) {}

  static async start(env: ServerEnvironment): Promise<LocalS3> {
    const program = await buildS3(env);
    const folder = await mkdtemp(join(tmpdir(), 'svc-s3-'));
    await mkdir(join(folder, 'data', BUCKET), { recursive: true });
    await mkdir(join(folder, 'metadata'));
    const place = { program, port: await freePort(), secret: randomBytes(24).toString('hex') };
    return new LocalS3(await spawned(folder, place), folder, place);
  }

  /** The settings of a process that stores media in it. */
  get settings(): Readonly<Record<string, string>> {
    return {
      MEDIA_S3_URL: `http://127.0.0.1:${this.place.port}`,
      MEDIA_S3_BUCKET: BUCKET,
      MEDIA_S3_ACCESS_KEY_ID: 'media',
      MEDIA_S3_SECRET_ACCESS_KEY: this.place.secret,
    };
  }

  /** The names of its objects. */
  async objects(): Promise<string[]> {
    const entries = await readdir(join(this.folder, 'data', BUCKET), {
      recursive: true,
      withFileTypes: true,
    });
    return entries
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('.sgwtmp'))
      .map(({ name }) => name);
  }

  /** Kills it. Its data stays. */
  async kill(): Promise<void> {
    if (this.server.exitCode !== null || this.server.signalCode !== null) return;
    const ended = once(this.server, 'exit');
    this.server.kill('SIGKILL');
    await ended;
  }

  /** Starts it again at the same address. */
  async restart(): Promise<void> {
    await this.kill();
    this.server = await spawned(this.folder, this.place);
  }

  /** Stops it and removes its data. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}

async function spawned(
  folder: string,
  { program, port, secret }: { readonly program: string; readonly port: number; readonly secret: string },
): Promise<ChildProcess> {
  const options = ['--port', `127.0.0.1:${port}`, '--quiet', '--keep-alive', 'posix'];
  const server = spawn(program, [...options, '--sidecar', join(folder, 'metadata'), join(folder, 'data')], {
    // Arguments are visible to every user.
    env: { ROOT_ACCESS_KEY_ID: 'media', ROOT_SECRET_ACCESS_KEY: secret },
    stdio: 'ignore',
  });
  const end = (): void => {
    server.kill('SIGKILL');
  };
  process.once('exit', end);
  server.once('exit', () => process.off('exit', end));
  for (const endMs = performance.now() + START_MS; performance.now() < endMs; await sleep(50)) {
    if (server.exitCode !== null) break;
    if (await responds(port)) return server;
  }
  end();
  throw new Error('the S3 server did not start');
}

/** The path of the program, which Go builds into the cache unless it is there. */
export async function buildS3(env: ServerEnvironment): Promise<string> {
  const folder = join(cacheFolder(env), `versitygw-${VERSION}`);
  const program = join(folder, 'versitygw');
  const isThere = (): Promise<boolean> =>
    access(program).then(
      () => true,
      () => false,
    );
  if (await isThere()) return program;
  await mkdir(cacheFolder(env), { recursive: true });
  const aside = await mkdtemp(join(cacheFolder(env), 'new-'));
  try {
    const given = { ...env, GOBIN: aside, GOFLAGS: '-buildvcs=false', CGO_ENABLED: '0' };
    await run('go', ['install', '-ldflags=-s -w', `${PROGRAM}@${VERSION}`], {
      env: given,
      timeout: BUILD_MS,
    });
    await rename(aside, folder);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    // Another run may have finished first.
    if (!(await isThere())) throw error;
  }
  return program;
}
