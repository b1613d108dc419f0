// Migrations only add, so that the previous version can run next to the new one: expand, migrate, contract. A
// migration that drops something or makes it stricter is refused unless it contains `-- contracts: VERSION`,
// the release since which no code reads the dropped object, or omits a value that becomes required. Each has
// a number of its own: two with the same one would be applied in the order of their names.
import { allFiles, finish, read } from './check-sources.mjs';

/** Already applied when the rule was introduced. */
const BEFORE = new Set(['prisma/migrations/0005_keys/migration.sql']);

const REFUSED = [
  [/\bDROP\s+(TABLE|SCHEMA|VIEW|TYPE|COLUMN)\b/i, 'takes away what the version before reads'],
  [/\bRENAME\s+(TO|COLUMN|CONSTRAINT)?\b/i, 'renames what the version before reads'],
  [/\bALTER\s+COLUMN\s+\S+\s+(SET\s+DATA\s+)?TYPE\b/i, 'changes a type that the version before writes'],
  [/\bSET\s+NOT\s+NULL\b/i, 'refuses rows that the version before writes'],
  [
    /\bADD\s+COLUMN\b(?![^,;]*\b(?:DEFAULT|\w*SERIAL)\b)[^,;]*\bNOT\s+NULL\b/i,
    'needs a column that the version before does not write: give it a default',
  ],
];

const faults = [];
const migrations = allFiles().filter((file) => /^prisma\/migrations\/.*\.sql$/.test(file));
const sameNumber = Map.groupBy(migrations, (path) => /\d+/.exec(path)?.[0]);
for (const [number, paths] of sameNumber)
  if (paths.length > 1) faults.push(`${paths.join(', ')}: several migrations have the number ${number}`);
for (const path of migrations) {
  const text = read(path);
  if (BEFORE.has(path) || /^-- contracts: \d+\.\d+\.\d+$/m.test(text)) continue;
  const code = text.replaceAll(/--.*$/gm, (comment) => ' '.repeat(comment.length));
  for (const [pattern, why] of REFUSED) {
    const found = pattern.exec(code);
    if (found) faults.push(`${path}:${code.slice(0, found.index).split('\n').length}: ${why}`);
  }
}
finish(faults);
