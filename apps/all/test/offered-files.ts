import { createReadStream } from 'node:fs';
import { readFile, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually } from './response-bodies.js';
import type { Arrangement } from './target.js';

const FILES = { SVC_CATALOG: 'catalog', SVC_CHARACTERS: 'characters' } as const;

type FileName = keyof typeof FILES;

/** A process whose log is in a file of its name. */
interface Logged {
  readonly name: string;
  /** The number of starts. */
  readonly starts: number;
  readonly isReady: boolean;
}

/** The running processes that read the files. */
export interface Readers {
  /** The folder with their logs. */
  readonly logs: string;
  readonly of: Readonly<Record<FileName, readonly Logged[]>>;
  /** Restarts those that need it, and returns them. */
  readonly restart: () => Promise<readonly Logged[]>;
}

/** The files with the catalogue and the characters of running processes. */
export class OfferedFiles {
  /** Their paths. */
  readonly env: Readonly<Record<FileName, string>>;
  private readonly texts = new Map<FileName, string>();

  constructor(folder: string) {
    this.env = {
      SVC_CATALOG: join(folder, 'catalog.yaml'),
      SVC_CHARACTERS: join(folder, 'characters.yaml'),
    };
  }

  /** Replaces the files that differ, and returns them. */
  async write(contents: Pick<Arrangement, 'catalog' | 'characters'>): Promise<readonly FileName[]> {
    const names = Object.keys(FILES) as FileName[];
    const changed = names.filter((name) => this.texts.get(name) !== contents[FILES[name]]);
    for (const name of changed) {
      const path = this.env[name];
      // In one step: readers never see a part of it.
      await writeFile(`${path}.new`, contents[FILES[name]]);
      await rename(`${path}.new`, path);
      this.texts.set(name, contents[FILES[name]]);
    }
    return changed;
  }

  /** As `write`; resolves when all readers use the new files. Rejects if one finds its file invalid. */
  async change(
    contents: Pick<Arrangement, 'catalog' | 'characters'>,
    { logs, of, restart }: Readers,
  ): Promise<void> {
    const before = await lengths(logs);
    const changed = await this.write(contents);
    const starts = new Map(
      Object.values(of).flatMap((readers) => readers.map(({ name, starts }) => [name, starts])),
    );
    const restarted = new Set((await restart()).map(({ name }) => name));
    const reloads = changed.flatMap((file) =>
      of[file]
        .filter(({ name }) => !restarted.has(name))
        .map((process) => {
          const { name } = process;
          const path = join(logs, `${name}.log`);
          const start = before.get(path) ?? 0;
          // One that starts after the change reads the new file.
          const isNew = (): boolean => process.isReady && process.starts > (starts.get(name) ?? 0);
          return eventually(
            `${name} reloads its ${FILES[file]}`,
            async () => isNew() || isReloaded(this.env[file], await text(createReadStream(path, { start }))),
          );
        }),
    );
    await Promise.all(reloads);
  }
}

/** The logs of all processes of a folder. */
export async function allLogs(folder: string): Promise<string> {
  return (await Promise.all((await logPaths(folder)).map((path) => readFile(path, 'utf8')))).join('');
}

async function logPaths(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.log')).map((name) => join(folder, name));
}

async function lengths(folder: string): Promise<ReadonlyMap<string, number>> {
  const paths = await logPaths(folder);
  return new Map(await Promise.all(paths.map(async (path) => [path, (await stat(path)).size] as const)));
}

/** Whether a log tells that a file was reloaded. Throws if the file was found invalid. */
function isReloaded(path: string, log: string): boolean {
  const lines = log.split('\n').filter((line) => line.includes(JSON.stringify(path)));
  const fault = lines.find((line) => line.includes('the changed file is invalid'));
  if (fault !== undefined) throw new Error(fault);
  return lines.some((line) => line.includes('file reloaded'));
}
