// The way of a chat completion through the code, as docs/architecture.md lists it: short enough to be read,
// and without gaps.
import { existsSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { finish, importsOf, read, root } from './check-sources.mjs';

const page = 'docs/architecture.md';
const heading = '### The files, in order';

/** Maximum number of files. */
const maxFiles = 80;

const faults = [];
const [, rest] = read(page).split(`${heading}\n`);
const section = rest?.split(/^#/m)[0] ?? '';
const files = [...section.matchAll(/\]\(\.\.\/([^)#]+\.ts)\)/g)].map(([, path]) => path);
if (files.length === 0) faults.push(`${page}: has no files under "${heading}"`);
if (files.length > maxFiles) faults.push(`${page}: names ${files.length} files, ${maxFiles} are allowed`);

const named = new Map();
for (const path of files) {
  if (named.has(path)) faults.push(`${page}: names ${path} twice`);
  else if (!existsSync(join(root, path))) faults.push(`${page}: names ${path}, which does not exist`);
  else named.set(path, read(path));
}

/** The paths of the files that a file imports by relative paths. */
const relativeImports = (path, text) =>
  importsOf(text)
    .filter(({ target }) => target.startsWith('.'))
    .map(({ target }) => posix.join(dirname(path), target).replace(/\.js$/, '.ts'));

/** The file behind the name of another library or a room of it, such as `@svc/paid/json`. */
const doorOf = (target) => target.replace(/^@svc\/([\w-]+)((?:\/[\w-]+)?)$/, 'libs/$1/src$2/index.ts');

/** The named files that other named files import, or what the libraries that they import let out. */
const imported = new Set();
for (const [path, text] of named) {
  for (const target of relativeImports(path, text)) imported.add(target);
  for (const { target } of importsOf(text)) {
    const door = doorOf(target);
    if (door === target || !existsSync(join(root, door))) continue;
    for (const file of relativeImports(door, read(door))) imported.add(file);
  }
}

const libraries = new Set();
for (const [path, text] of named) {
  const library = path.split('/')[1];
  const isFirst = !libraries.has(library);
  libraries.add(library);
  // A framework calls controllers, and what extends a class is injected in its place.
  const isInjected = /@Controller\(|^export (abstract )?class \w+ extends /m.test(text);
  if (!isFirst && !isInjected && !imported.has(path))
    faults.push(`${page}: no other file that it names imports ${path}`);
}

finish(faults);
