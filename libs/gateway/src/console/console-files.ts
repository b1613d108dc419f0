import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { PublishedText } from '@svc/paid/http';

/** Where the build puts the pages of the console and of the desk, and the files that they load. */
const FOLDER = fileURLToPath(new URL('../../../console/dist/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

/** Names of files that contain a hash of their content, so that the content never changes. */
const ASSET = /^assets\/[\w.-]+-[\w-]{6,64}\.(?<type>css|js|svg|woff2)$/;

/** The page of the console for customers, and that of the desk for operators. */
export type PageName = 'index' | 'desk';

/** A file that the console consists of. */
export interface ConsoleFile {
  readonly text: PublishedText;
  readonly etag: string;
}

/** Reads each file once. A process that serves another build is another process. */
export class ConsoleFiles {
  private readonly files = new Map<string, Promise<ConsoleFile | undefined>>();

  constructor(private readonly folder = FOLDER) {}

  /** A page. Undefined if the console has not been built. */
  page(name: PageName): Promise<ConsoleFile | undefined> {
    return this.file(`${name}.html`, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
    });
  }

  /** A file that the page loads. Undefined for any other path. */
  asset(path: string): Promise<ConsoleFile | undefined> {
    const type = TYPES[ASSET.exec(path)?.groups?.['type'] ?? ''];
    if (type === undefined) return Promise.resolve(undefined);
    return this.file(path, { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' });
  }

  private file(path: string, headers: ConstructorParameters<typeof PublishedText>[1]) {
    const file = this.files.get(path) ?? this.read(path, headers);
    this.files.set(path, file);
    // What is not there may be built later, and unknown names must not fill the memory.
    void file.then((found) => found ?? this.files.delete(path));
    return file;
  }

  private async read(path: string, headers: ConstructorParameters<typeof PublishedText>[1]) {
    try {
      const bytes = await readFile(`${this.folder}${path}`);
      const etag = `"${hash('sha256', bytes, 'base64url')}"`;
      return { text: new PublishedText(bytes, headers), etag };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}
