import { articles } from './articles.js';
import { builtPages } from './built-pages.js';
import { damaged } from './damaged.js';
import { documentation } from './documentation.js';
import { forums } from './forums.js';
import { languages } from './languages.js';
import { tables } from './tables.js';
import { walls } from './walls.js';
import { type Language, PageWriter, type Structure, type Structures } from './writer.js';

export interface CorpusPage {
  readonly name: string;
  readonly html: string;
  readonly writer: PageWriter;
}

const ALL: readonly (readonly [string, Structures])[] = Object.entries({
  articles,
  documentation,
  tables,
  forums,
  walls,
  'built pages': builtPages,
  damaged,
});

function made(name: string, structure: Structure, language: Language): CorpusPage {
  const writer = new PageWriter(name, language);
  return { name, html: structure(writer), writer };
}

/** Pages of many structures, each with its main content and boilerplate. */
export const corpus: readonly CorpusPage[] = [
  ...ALL.flatMap(([kind, structures]) =>
    Object.entries(structures).map(([name, structure]) => made(`${kind}: ${name}`, structure, 'en')),
  ),
  ...Object.entries(languages).map(([language, structure]) =>
    made(`languages: ${language}`, structure, language as Language),
  ),
];
