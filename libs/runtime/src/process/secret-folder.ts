import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import type { Logger } from '../logging/logging.js';
import { within } from '../within.js';
import type { Environment } from './run-process.js';

/** How often the folder is read. Polling works where file notifications do not, as on mounted Secrets. */
const POLL_MS = 2_000;

/** How long one reading of the folder may take. */
const READ_MS = 5_000;

/** The most bytes of a secret: a key of a service account takes 2.5 KB. */
const LIMIT_BYTES = 65_536;

/** The most secrets that are kept. */
const MOST_SECRETS = 1_000;

/** The names of variables; a mounted Secret has files of its own beside them. */
const NAME = /^[A-Z][A-Z0-9_]*$/;

/** Returns the secret with a name, as it is now. */
export type Secrets = (name: string) => string | undefined;

/** A starting process. */
interface Owner {
  readonly env: Environment;
  readonly logger: Logger;
  readonly undo: (undo: () => void) => void;
}

interface KeptSecret {
  readonly value: string;
  /** Differs for each version of the file. */
  readonly mark: string;
}

/**
 * The secrets of the environment and, before them, of the files in a folder. A file that changes is read
 * again; what was read last stays if it vanishes or cannot be used.
 */
export async function openSecrets(
  folder: string | undefined,
  { env, logger, undo }: Owner,
): Promise<Secrets> {
  if (folder === undefined || folder === '') return (name) => env[name];
  const files = new SecretFolder(folder, logger);
  await files.read();
  undo(files.follow());
  return (name) => files.of(name) ?? env[name];
}

class SecretFolder {
  private readonly kept = new Map<string, KeptSecret>();
  /** What has been logged about a file, or about the folder. */
  private readonly faults = new Map<string, string>();
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly path: string,
    private readonly logger: Logger,
  ) {}

  of(name: string): string | undefined {
    return this.kept.get(name)?.value;
  }

  /** Reads what has changed; one reading at a time, even if one hangs. */
  async read(): Promise<void> {
    this.reading ??= this.readAll().finally(() => (this.reading = undefined));
    try {
      await within(READ_MS, this.reading);
      this.passed(this.path);
    } catch (error) {
      this.failed(this.path, error);
    }
  }

  /** Reads now and then. Returns how to stop that. */
  follow(): () => void {
    const wait = (): void => {
      this.timer = setTimeout(() => void this.read().finally(() => this.isOver || wait()), POLL_MS);
      this.timer.unref();
    };
    wait();
    return () => {
      this.isOver = true;
      clearTimeout(this.timer);
    };
  }

  private async readAll(): Promise<void> {
    const names = (await readdir(this.path)).filter((name) => NAME.test(name)).slice(0, MOST_SECRETS);
    for (const name of new Set([...names, ...this.kept.keys()])) {
      try {
        await this.readFile(name);
        this.passed(name);
      } catch (error) {
        this.failed(name, error);
      }
    }
  }

  private async readFile(name: string): Promise<void> {
    // A pipe would let the opening wait for its writer.
    const file = await open(`${this.path}/${name}`, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const known = this.kept.get(name);
      const mark = await markOf(file);
      if (known?.mark === mark) return;
      const value = await textIn(file);
      this.kept.set(name, { value, mark });
      if (known && known.value !== value) this.logger.info({ secret: name }, 'a secret has been read again');
    } finally {
      await file.close();
    }
  }

  private passed(what: string): void {
    this.faults.delete(what);
  }

  /** Once for each fault: the name of the file and the reason, which has nothing of its content. */
  private failed(what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (this.faults.get(what) === reason) return;
    this.faults.set(what, reason);
    const has = this.kept.has(what) ? 'the last one is used' : 'none is known';
    this.logger.error({ secret: what, reason }, `a secret cannot be read; ${has}`);
  }
}

async function markOf(file: FileHandle): Promise<string> {
  const stats = await file.stat({ bigint: true });
  if (!stats.isFile()) throw new TypeError('not a file');
  if (stats.size > LIMIT_BYTES) throw new TypeError(`more than ${LIMIT_BYTES} bytes`);
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ');
}

/** Without the space around it, which editors add. */
async function textIn(file: FileHandle): Promise<string> {
  const bytes = Buffer.alloc(LIMIT_BYTES + 1);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  const text = bytes.toString('utf8', 0, bytesRead).trim();
  if (bytesRead > LIMIT_BYTES) throw new TypeError(`more than ${LIMIT_BYTES} bytes`);
  if (text === '') throw new TypeError('empty');
  return text;
}
