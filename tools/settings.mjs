// Generates docs/settings.md from the schemas of the settings; `--check` fails if it is stale. Needs the
// build.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { otherwiseOf } from '@svc/runtime';
import { PROCESSES, settingsOf } from './processes.mjs';

const path = 'docs/settings.md';
const root = join(import.meta.dirname, '..');

/** A value as it is set in a shell. */
function defaultOf(schema) {
  const other = otherwiseOf(schema);
  if (other) return `that of \`${other.name}\``;
  const { success, data } = schema.safeParse(undefined);
  if (!success) return '**needed**';
  if (data === undefined || data === '') return '';
  return `\`${data}\``;
}

const row = ([name, schema]) =>
  `| \`${name}\` | ${defaultOf(schema)} | ${(schema.description ?? '').replaceAll('|', '\\|')} |`;

const table = (settings) => [
  '| Variable | Default | |',
  '|---|---|---|',
  ...Object.entries(settings)
    .toSorted(([a], [b]) => a.localeCompare(b, 'en'))
    .map(row),
  '',
];

const sections = [];
for (const [app, , , what] of PROCESSES) {
  const settings = await settingsOf(app);
  if (settings) sections.push({ app, what, settings });
}
const rowsOf = ({ settings }) => new Set(Object.entries(settings).map(row));
const [first, ...others] = sections;
const ofAll = others.map(rowsOf).reduce((common, rows) => common.intersection(rows), rowsOf(first));
const without = (settings) =>
  Object.fromEntries(Object.entries(settings).filter((entry) => !ofAll.has(row(entry))));

const text = [
  '# Settings',
  '',
  'Generated from the schemas that read them (`npm run settings`). Every process reads its own from the environment and',
  'reports all invalid settings at once. Durations are in milliseconds.',
  '',
  '## Every process',
  '',
  ...table(Object.fromEntries(Object.entries(first.settings).filter((entry) => ofAll.has(row(entry))))),
  ...sections.flatMap(({ app, what, settings }) => [`## ${app}`, '', what, '', ...table(without(settings))]),
].join('\n');

const file = join(root, path);
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error(`${path}: does not match the schemas; update it with: npm run settings`);
  process.exitCode = 1;
}
