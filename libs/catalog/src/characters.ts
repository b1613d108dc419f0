import { basename } from 'node:path';
import { type Character, CharactersFile } from '@svc/api/characters';
import { type FileVersion, type OperatorFile, hashOf } from './operator-file.js';
import { FileError, parseYaml, readYaml } from './yaml-file.js';

/** The available characters. Read from a file at start and again when it changes. */
export class Characters {
  private bySlug = new Map<string, Character>();

  /** `source`: the file that it follows. */
  constructor(
    file: CharactersFile,
    readonly source?: OperatorFile<CharactersFile>,
  ) {
    this.replace(file);
    source?.onReplaced((next) => this.replace(next));
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
  /** Stands for the text of the file. */
  readonly text?: string;
}

/** Reads the file of characters. The error lists every fault. */
export async function readCharacters({
  path,
  mayBeMissing,
  text: given,
}: CharactersPath): Promise<FileVersion<CharactersFile>> {
  const file =
    given === undefined
      ? await readYaml(path, CharactersFile)
      : parseYaml(given, CharactersFile, basename(path));
  if (file === undefined && !mayBeMissing) throw new FileError(`${path}: no such file`);
  const { text, content, value } = file ?? { text: '', content: NONE, value: NONE };
  return { hash: hashOf(text), content, value };
}

const NONE: CharactersFile = { characters: [] };
