import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FileInForce } from '@svc/api/operator';
import { routes } from '@svc/api';
import { InternalClient, RESPONSE_JSON_LIMITS, boundedJson } from '@svc/runtime';

/** Deadline of the request to a gateway. A process starts without the response, too. */
const GATEWAY_MS = 3_000;

/** Where the version of each file that was last in force is found by a start with a broken one. */
export interface LastGood {
  /** `undefined` if no version was kept. Rejects if that is unknown. */
  read(name: string): Promise<FileInForce | undefined>;
  write(name: string, version: FileInForce): Promise<void>;
}

/** A folder, for a process with data of its own. */
export class LastGoodFolder implements LastGood {
  constructor(private readonly folder: string) {}

  async read(name: string): Promise<FileInForce | undefined> {
    try {
      return keptVersion(await readFile(this.pathOf(name), 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Readable by its owner only, because prompts are in it. */
  async write(name: string, version: FileInForce): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const unfinished = `${this.pathOf(name)}.new`;
    await writeFile(unfinished, JSON.stringify(version), { mode: 0o600 });
    await rename(unfinished, this.pathOf(name));
  }

  private pathOf(name: string): string {
    return join(this.folder, `${name}.json`);
  }
}

/** The gateways of the deployment, which keep their own, for a process without data. */
export class LastGoodOfGateways implements LastGood {
  /** Without a URL there are no gateways. */
  constructor(
    private readonly url: string | undefined,
    private readonly token = '',
  ) {}

  /** Gateways show nothing but the catalogue. */
  async read(): Promise<FileInForce | undefined> {
    if (this.url === undefined) return undefined;
    const client = new InternalClient({ url: this.url, token: this.token });
    try {
      const { method, path } = routes.readCatalog;
      const { status, text } = await client.ask({ method, path, deadlineMs: GATEWAY_MS, idempotent: true });
      if (status !== 200) throw new Error(`a gateway responded with ${status}`);
      return keptVersion(text);
    } finally {
      await client.close();
    }
  }

  async write(): Promise<void> {
    // The gateways do it.
  }
}

const keptVersion = (text: string): FileInForce => FileInForce.parse(boundedJson(text, RESPONSE_JSON_LIMITS));
