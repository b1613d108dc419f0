// Shared by the checks: the list of files, their imports, and the report of faults.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';

const folder = process.argv.slice(2).find((argument) => !argument.startsWith('--'));

/** The workspace to check: the argument, or the one that contains this file. */
export const root = resolve(folder ?? join(import.meta.dirname, '..'));

const skippedFolders = new Set(['node_modules', 'dist', 'generated', 'coverage', '.git', '.nx', '.svc']);
const skippedEndings = ['.log', '.tsbuildinfo'];

/** Every file under version control, as a path from the root with forward slashes. */
export function allFiles() {
  const entries = readdirSync(root, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile() && !skippedEndings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !path.split('/').some((part) => skippedFolders.has(part)))
    .toSorted();
}

export const read = (path) => readFileSync(join(root, path), 'utf8');

/** Parses JSON with comments on their own lines. */
export const readJson = (path) => JSON.parse(read(path).replaceAll(/^\s*\/\/.*$/gm, ''));

/** Blanks out comments but keeps the lines, so that positions stay valid. */
export function withoutComments(text) {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '))
    .replaceAll(/^([^'"`\n]*?)\/\/.*$/gm, '$1');
}

const lineOf = (text, index) => text.slice(0, index).split('\n').length;

const statement = /^[ \t]*(?:import|export)\s+(type\s+)?(?:[\w*$\s{},]*?\sfrom\s*)?['"]([^'"]+)['"]/gm;
const braced = /^[ \t]*(?:import|export)\s+(type\s*)?(?:[\w$]+\s*,\s*)?\{[^}]*\}\s*from\s*['"]([^'"]+)['"]/gm;
const call = /\bimport\(\s*()['"]([^'"]+)['"]/g;

/** The imports of a source: `{ target, line, typeOnly }`, re-exports and `import()` included. */
export function importsOf(text) {
  const code = withoutComments(text);
  const found = new Map();
  for (const pattern of [statement, braced, call]) {
    for (const match of code.matchAll(pattern)) {
      const end = match.index + match[0].length;
      found.set(end, { target: match[2], line: lineOf(code, end), typeOnly: Boolean(match[1]) });
    }
  }
  return [...found.values()];
}

/** True for the tests of a project, and for the code that it has only for tests. */
export function isOwnTest(path) {
  return (
    /\.(spec|int|conformance|e2e|fault|hostile|cluster|bench)\.m?ts$/.test(path) ||
    /^(apps|libs)\/[^/]+\/test\//.test(path)
  );
}

/** True for code that only tests run; it may use the testing library. */
export const isTest = (path) => isOwnTest(path) || /^libs\/(testing|infra)\//.test(path);

export const isCode = (path) => /\.(tsx?|mts|cts|js|mjs|cjs)$/.test(path);

/** Prints the faults, one per line, and exits with the code that the runner expects. */
export function finish(faults) {
  for (const fault of new Set(faults)) console.log(fault);
  process.exit(faults.length === 0 ? 0 : 1);
}
