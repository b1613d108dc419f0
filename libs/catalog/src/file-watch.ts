import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { type Catalog, readCatalog } from './catalog.js';
import { type Characters, type CharactersPath, readCharacters } from './characters.js';
import type { Logger } from '@svc/runtime';

/** The polling interval. Polling works where file notifications do not, as on mounted ConfigMaps. */
const POLL_MS = 2_000;

export interface CatalogPaths {
  readonly path: string;
  readonly extraPath?: string;
}

/** Polls a file until it is stopped. */
interface FileWatch {
  stop(): void;
}

/** Reloads the catalogue whenever its file changes. A faulty file is logged, and the old catalogue stays. */
export function watchCatalog(catalog: Catalog, paths: CatalogPaths, logger: Logger): FileWatch {
  return watch(paths.path, logger, async () => {
    catalog.replace(await readCatalog(paths.path, paths.extraPath));
    return { models: catalog.text.list.length };
  });
}

/**
 * Reloads the characters whenever their file changes. A faulty file is logged, and the old characters stay.
 */
export function watchCharacters(characters: Characters, file: CharactersPath, logger: Logger): FileWatch {
  return watch(file.path, logger, async () => {
    characters.replace(await readCharacters(file));
    return { characters: characters.list().length };
  });
}

/** Calls `read` on each change and logs its result. */
function watch(path: string, logger: Logger, read: () => Promise<Record<string, number>>): FileWatch {
  const reload = async (): Promise<void> => {
    try {
      logger.info({ path, ...(await read()) }, 'file reloaded');
    } catch (error) {
      logger.error({ path, err: error }, 'the changed file is invalid; the previous version stays in use');
    }
  };
  const onChange = (now: Stats, before: Stats): void => {
    // `watchFile` reports the first look at a missing file as a change.
    if (now.mtimeMs !== 0 || before.mtimeMs !== 0) void reload();
  };
  watchFile(path, { interval: POLL_MS, persistent: false }, onChange);
  return { stop: () => unwatchFile(path, onChange) };
}
