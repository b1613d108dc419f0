import { basename } from 'node:path';
import { CatalogEntry, CatalogFile } from '@svc/contracts/catalog';
import { z } from 'zod';
import { type FileVersion, hashOf } from './operator-file.js';
import { FileError, parseYaml, readYaml } from './yaml-file.js';

/** The models found on this machine: the part of a catalogue that `all` writes itself. */
const ExtraModels = z.strictObject({ models: z.array(CatalogEntry) });

/**
 * Reads a catalogue and, if it exists, a second file with further models. The error lists every fault of a
 * file.
 */
export async function readCatalog(path: string, extraPath?: string): Promise<CatalogFile> {
  const { value } = await readCatalogVersion(path, extraPath);
  return value;
}

/**
 * The same, with the content as it is written and the hash of both files. A given text stands for that of the
 * catalogue.
 */
export async function readCatalogVersion(
  path: string,
  extraPath?: string,
  text?: string,
): Promise<FileVersion<CatalogFile>> {
  const file =
    text === undefined ? await readYaml(path, CatalogFile) : parseYaml(text, CatalogFile, basename(path));
  if (file === undefined) throw new FileError(`${path}: no such file`);
  const { content, value } = file;
  const extra = extraPath === undefined ? undefined : await readYaml(extraPath, ExtraModels);
  if (!extra) return { hash: hashOf(file.text), content, value };
  const known = new Set(
    value.models.flatMap(({ id, aliases }) => [id, ...aliases].map((name) => name.toLowerCase())),
  );
  const isNew = (name: string): boolean => !known.has(name.toLowerCase());
  const added = extra.value.models
    .filter(({ id }) => isNew(id))
    .map((model) => ({ ...model, aliases: model.aliases.filter(isNew) }));
  const own = content as z.input<typeof CatalogFile>;
  return {
    hash: hashOf(file.text, extra.text),
    content: { ...own, models: [...own.models, ...added] },
    value: { ...value, models: [...value.models, ...added] },
  };
}
