import { unwatchFile, watchFile } from 'node:fs';
import { type Catalog, readCatalog } from './catalog.js';
import type { Logger } from './logging.js';

/** Files that change are looked at this often. Asking works where notifications do not, as on mounted ConfigMaps. */
const POLL_MS = 2_000;

export interface CatalogPaths {
  readonly path: string;
  readonly extraPath?: string;
}

/** Reads the catalogue again whenever its file changes. A faulty file is logged and the old catalogue stays. */
export function watchCatalog(catalog: Catalog, paths: CatalogPaths, logger: Logger): { stop(): void } {
  const reload = async (): Promise<void> => {
    try {
      catalog.replace(await readCatalog(paths.path, paths.extraPath));
      logger.info({ path: paths.path, models: catalog.models().length }, 'catalogue read again');
    } catch (error) {
      logger.error({ err: error }, 'the changed catalogue is faulty; the one before stays in use');
    }
  };
  const onChange = (): void => void reload();
  watchFile(paths.path, { interval: POLL_MS, persistent: false }, onChange);
  return { stop: () => unwatchFile(paths.path, onChange) };
}
