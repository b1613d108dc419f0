import { BLOCK_BYTES, FileBlocks } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import type { MediaStore } from './media-store.js';

/** Blocks of clients' files, each an object of the store of media. */
export class LocalFileBlocks extends FileBlocks {
  constructor(private readonly files: MediaStore) {
    super();
  }

  override async put(name: string, bytes: Uint8Array): Promise<void> {
    await reached(this.files.put(name, only(bytes), BLOCK_BYTES));
  }

  override async get(name: string): Promise<Buffer | undefined> {
    const content = await reached(this.files.open(name));
    if (!content) return undefined;
    const parts: Uint8Array[] = [];
    await reached(
      (async () => {
        for await (const part of content) parts.push(part);
      })(),
    );
    return Buffer.concat(parts);
  }

  override remove(name: string): Promise<void> {
    return reached(this.files.remove(name));
  }
}

/** In a deployment without a place for files. */
export class NoFileBlocks extends FileBlocks {
  override put = refused;
  override get = refused;
  override remove = refused;
}

function refused(): Promise<never> {
  return Promise.reject(new Problem('NOT_AVAILABLE'));
}

async function reached<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new Problem('UNAVAILABLE', { cause: error });
  }
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
