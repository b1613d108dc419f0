// Generates docs/settings.md from the schemas of the settings; `--check` fails if it is stale. Needs the
// build.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROCESSES, settingsOf } from './processes.mjs';

const path = 'docs/settings.md';
const root = join(import.meta.dirname, '..');

/** A value as it is set in a shell. */
function defaultOf(schema) {
  const { success, data } = schema.safeParse(undefined);
  if (!success) return '**needed**';
  if (data === undefined || data === '') return '';
  return `\`${data}\``;
}

const row = ([name, schema]) =>
  `| \`${name}\` | ${defaultOf(schema)} | ${(schema.description ?? '').replaceAll('|', '\\|')} |`;

async function section([app, , , what]) {
  const settings = await settingsOf(app);
  if (!settings) return [];
  const rows = Object.entries(settings).toSorted(([a], [b]) => a.localeCompare(b, 'en'));
  return [`## ${app}`, '', what, '', '| Variable | Default | |', '|---|---|---|', ...rows.map(row), ''];
}

const text = [
  '# Settings',
  '',
  'Generated from the schemas that read them (`npm run settings`). Every process reads its own from the environment and',
  'reports all invalid settings at once. Durations are in milliseconds.',
  '',
  ...(await Promise.all(PROCESSES.map(section))).flat(),
].join('\n');

const file = join(root, path);
if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error(`${path}: does not match the schemas; update it with: npm run settings`);
  process.exitCode = 1;
}
