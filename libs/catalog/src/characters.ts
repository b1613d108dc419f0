import { type Character, CharactersFile } from '@svc/contracts';
import { FileError, readYaml } from './yaml-file.js';

/** The available characters. Read from a file at start and again when it changes. */
export class Characters {
  private bySlug = new Map<string, Character>();

  constructor(file: CharactersFile) {
    this.replace(file);
  }

  /** Replaces all characters atomically. */
  replace({ characters }: CharactersFile): void {
    this.bySlug = new Map(characters.map((character) => [character.slug, character]));
  }

  /** All characters, in the order of the file. */
  list(): readonly Character[] {
    return [...this.bySlug.values()];
  }

  find(slug: string): Character | undefined {
    return this.bySlug.get(slug);
  }
}

export interface CharactersPath {
  readonly path: string;
  /** Whether a missing file means that there are no characters. */
  readonly mayBeMissing?: boolean;
}

/** Reads the file of characters. The error lists every fault. */
export async function readCharacters({ path, mayBeMissing }: CharactersPath): Promise<CharactersFile> {
  const file = await readYaml(path, CharactersFile);
  if (file === undefined && !mayBeMissing) throw new FileError(`${path}: no such file`);
  return file ?? { characters: [] };
}
