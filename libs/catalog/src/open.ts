import { resolve } from 'node:path';
import { z } from 'zod';
import type { Logger } from '@svc/runtime';
import { Catalog, readCatalog } from './catalog.js';
import { Characters, readCharacters } from './characters.js';
import { type CatalogPaths, watchCatalog, watchCharacters } from './file-watch.js';

/** The setting for the catalogue file. */
export const catalogConfig = {
  SVC_CATALOG: z.string().default('catalog.yaml').describe('The path of the model catalogue'),
};

/** The setting for the file of characters. */
export const charactersConfig = {
  SVC_CHARACTERS: z
    .string()
    .optional()
    .describe('The path of the characters file; if unset, `characters.yaml` if that exists'),
};

/** Logs reloads, and stops the file watch at its end. */
interface Owner {
  readonly logger: Logger;
  readonly undo: (undo: () => void) => void;
}

/** Reads the catalogue now and whenever it changes. */
export async function openCatalog(paths: CatalogPaths, { logger, undo }: Owner): Promise<Catalog> {
  const path = resolve(paths.path);
  const catalog = new Catalog(await readCatalog(path, paths.extraPath));
  const watch = watchCatalog(catalog, { ...paths, path }, logger);
  undo(() => watch.stop());
  return catalog;
}

/** Reads the characters now and whenever their file changes. A file that was named explicitly must exist. */
export async function openCharacters(
  given: string | undefined,
  { logger, undo }: Owner,
): Promise<Characters> {
  const file = { path: resolve(given ?? 'characters.yaml'), mayBeMissing: given === undefined };
  const characters = new Characters(await readCharacters(file));
  const watch = watchCharacters(characters, file, logger);
  undo(() => watch.stop());
  return characters;
}
