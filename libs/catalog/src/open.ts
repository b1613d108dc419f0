import { resolve } from 'node:path';
import { CatalogFile } from '@svc/contracts/catalog';
import { CharactersFile } from '@svc/api/characters';
import { type Logger, type Secrets, neighbourUrl } from '@svc/runtime';
import { operatorFiles } from '@svc/telemetry';
import { z } from 'zod';
import { readCatalogVersion } from './catalog-file.js';
import { Catalog } from './catalog.js';
import { catalogChanges, charactersChanges, linesOf } from './changes.js';
import { Characters, readCharacters } from './characters.js';
import type { LastGood } from './last-good.js';
import { OperatorFile } from './operator-file.js';
import { keyNames, refusalOf } from './refusal.js';
import { parsedBy } from './yaml-file.js';

/** The factor by which a price may move without being confirmed. */
export const priceFactor = z.coerce
  .number()
  .refine((factor) => factor === 0 || factor > 1, 'must be more than 1, or 0 to accept every price')
  .default(10)
  .describe(
    'A change of the catalogue that moves a price by more than this factor must be confirmed in it; 0 accepts every price',
  );

/** The settings for the catalogue file. */
export const catalogConfig = {
  SVC_CATALOG: z.string().default('catalog.yaml').describe('The path of the model catalogue'),
  SVC_CATALOG_PRICE_FACTOR: priceFactor,
};

/** Where a process without data finds the version that is in force. */
export const gatewayUrl = {
  GATEWAY_URL: neighbourUrl
    .optional()
    .describe(
      'The URL of the gateways; those of several replicas are separated by commas. A process that starts with a broken catalogue uses the one that they have; if unset, it does not start. Routers read there which backends operators have taken out of service',
    ),
};

/** The settings for the file of characters. */
export const charactersConfig = {
  SVC_CHARACTERS: z
    .string()
    .optional()
    .describe('The path of the characters file; if unset, `characters.yaml` if that exists'),
};

type CatalogConfig = z.infer<z.ZodObject<typeof catalogConfig>>;
type CharactersConfig = z.infer<z.ZodObject<typeof charactersConfig>>;

/** A starting process: logs reloads, and stops the file watch at its end. */
interface Owner {
  readonly logger: Logger;
  readonly undo: (undo: () => void) => void;
}

/** Where a start with a broken file finds the last good version. */
interface Start {
  readonly lastGood: LastGood;
}

/** What a process needs of the catalogue. */
interface CatalogUse extends Start {
  /** A file with further models. */
  readonly extraPath?: string;
  /** Returns the keys of backends, for a process that calls them. */
  readonly secret?: Secrets;
}

/** Reads the catalogue now and whenever it changes. */
export async function openCatalog(
  config: CatalogConfig,
  owner: Owner,
  { lastGood, extraPath, secret }: CatalogUse,
): Promise<Catalog> {
  const path = resolve(config.SVC_CATALOG);
  const isKnown = (name: string): boolean => !secret || (secret(name) ?? '') !== '';
  const source = await OperatorFile.open(
    {
      name: 'catalog',
      path,
      read: () => readCatalogVersion(path, extraPath),
      readText: (text) => readCatalogVersion(path, extraPath, text),
      valueOf: (content) => parsedBy(CatalogFile, content, path),
      changes: (before, after) => linesOf(catalogChanges(before, after)),
      refusal: (before, after) =>
        refusalOf(before, after, {
          factor: config.SVC_CATALOG_PRICE_FACTOR,
          names: (file) => keyNames(file).backends,
          isKnown,
        }),
      metrics: { info: operatorFiles.catalog, invalid: operatorFiles.catalogInvalid },
    },
    owner,
    lastGood,
  );
  return new Catalog(source.value, source);
}

/** Reads the characters now and whenever their file changes. A file that was named explicitly must exist. */
export async function openCharacters(
  config: CharactersConfig,
  owner: Owner,
  { lastGood }: Start,
): Promise<Characters> {
  const given = config.SVC_CHARACTERS;
  const path = resolve(given ?? 'characters.yaml');
  const source = await OperatorFile.open(
    {
      name: 'characters',
      path,
      read: () => readCharacters({ path, mayBeMissing: given === undefined }),
      readText: (text) => readCharacters({ path, text }),
      valueOf: (content) => parsedBy(CharactersFile, content, path),
      changes: (before, after) => linesOf(charactersChanges(before, after)),
      refusal: () => undefined,
      metrics: { info: operatorFiles.characters, invalid: operatorFiles.charactersInvalid },
    },
    owner,
    lastGood,
  );
  return new Characters(source.value, source);
}
