import { type Character, CharactersFile } from '@svc/contracts';
import { FileError, readYaml } from './yaml-file.js';

/** The characters on offer. Read from a file at start and again when it changes. */
export class Characters {
  private bySlug = new Map<string, Character>();

  constructor(file: CharactersFile) {
    this.replace(file);
  }

  /** Takes new characters in one step. */
  replace({ characters }: CharactersFile): void {
    this.bySlug = new Map(characters.map((character) => [character.slug, character]));
  }

  /** All, in the order of the file. */
  list(): readonly Character[] {
    return [...this.bySlug.values()];
  }

  find(slug: string): Character | undefined {
    return this.bySlug.get(slug);
  }
}

export interface CharactersPath {
  readonly path: string;
  /** Set where no file means no characters. */
  readonly mayBeMissing?: boolean;
}

/** Reads the file of characters. Refuses with every fault of it. */
export async function readCharacters({ path, mayBeMissing }: CharactersPath): Promise<CharactersFile> {
  const file = await readYaml(path, CharactersFile);
  if (file === undefined && !mayBeMissing) throw new FileError(`${path}: there is no such file`);
  return file ?? { characters: [] };
}
