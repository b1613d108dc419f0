import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RESPONSE_JSON_LIMITS, boundedJson } from '@svc/runtime';
import { z } from 'zod';

const KeptVersion = z.object({ hash: z.string(), content: z.unknown() });

/** A version of a file that was in force. */
export type KeptVersion = z.infer<typeof KeptVersion>;

/** A folder with the last version of each file that was in force, for a start with a broken one. */
export class LastGoodFolder {
  constructor(private readonly folder: string) {}

  /** `undefined` if no version was kept, or it is unreadable. */
  async read(name: string): Promise<KeptVersion | undefined> {
    try {
      return KeptVersion.parse(boundedJson(await readFile(this.pathOf(name), 'utf8'), RESPONSE_JSON_LIMITS));
    } catch {
      return undefined;
    }
  }

  /** Readable by its owner only, because prompts are in it. */
  async write(name: string, version: KeptVersion): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const unfinished = `${this.pathOf(name)}.new`;
    await writeFile(unfinished, JSON.stringify(version), { mode: 0o600 });
    await rename(unfinished, this.pathOf(name));
  }

  private pathOf(name: string): string {
    return join(this.folder, `${name}.json`);
  }
}
