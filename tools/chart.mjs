// Generates the parts of the chart that depend on the processes, from the schemas of their settings: the
// settings of each service, and the values that are refused; and the variables of the payment rails, in the
// compose file too. Copies the catalogue and lists the chart's files
// (alerts and dashboards are those of tools/dashboards.mjs): a chart that lost one does not render. `--check`
// fails if the files are stale or a process lacks a required setting. Needs the build.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { RAILS } from '@svc/payments';
import { format, resolveConfig } from 'prettier';
import { dataSchema, valuesSchema } from './chart-values.mjs';
import { secretKeys, withRails } from './rail-variables.mjs';
import { COMMANDS, PROCESSES, isNeeded, settingsOf } from './processes.mjs';

const root = join(import.meta.dirname, '..');
const chart = 'deploy/charts/platform';
/** Secrets must not be given as values. */
const isSecret = (name) => /^X402_\w+_SIGNER_KEY$/.test(name);
const faults = [];

/** Variables set by the templates. */
function variablesOfChart() {
  const text = readFileSync(join(root, chart, 'templates/_env.tpl'), 'utf8');
  return new Set(Array.from(text.matchAll(/^([A-Z][A-Z\d_]*):/gm), ([, name]) => name));
}

async function processes() {
  const apps = PROCESSES.map(async ([app]) => [app, await settingsOf(app)]);
  return Object.fromEntries([...(await Promise.all(apps)), ...Object.entries(COMMANDS)]);
}

const write = (path, text) => {
  const file = join(root, path);
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text)
    faults.push(`${path}: is stale; update it with: npm run chart`);
};

const writeJson = async (path, value) => {
  const options = await resolveConfig(join(root, path));
  write(path, await format(JSON.stringify(value), { ...options, parser: 'json' }));
};

const ofPayments = secretKeys(RAILS);
const owned = new Set([...variablesOfChart(), ...Object.keys(ofPayments)]);
const all = await processes();
const byName = ([a], [b]) => a.localeCompare(b, 'en');
const split = (settings) => {
  const entries = Object.entries(settings).toSorted(byName);
  return Object.groupBy(
    entries.map(([name]) => name),
    (name) => (isNeeded(settings[name]) ? 'needed' : 'optional'),
  );
};
const known = Object.fromEntries(
  Object.entries(all).map(([name, settings]) => [name, { needed: [], optional: [], ...split(settings) }]),
);
for (const [name, { needed }] of Object.entries(known)) {
  for (const variable of needed.filter((one) => !owned.has(one)))
    faults.push(`${chart}/templates/_env.tpl: ${name} needs ${variable}, which the chart does not set`);
}
const everything = new Set(Object.values(all).flatMap((settings) => Object.keys(settings)));
for (const variable of owned) {
  if (!everything.has(variable)) faults.push(`${chart}/templates/_env.tpl: no process knows ${variable}`);
}
const free = Object.fromEntries(
  PROCESSES.map(([app]) => [
    app,
    Object.keys(all[app])
      .filter((name) => !owned.has(name) && !isSecret(name))
      .toSorted(),
  ]),
);
await writeJson(`${chart}/files/settings.json`, known);
await writeJson(`${chart}/files/payments.json`, ofPayments);
write('deploy/compose.yaml', withRails(readFileSync(join(root, 'deploy/compose.yaml'), 'utf8'), RAILS));
await writeJson(`${chart}/values.schema.json`, valuesSchema(free));
await writeJson('deploy/charts/data/values.schema.json', dataSchema());
write(`${chart}/files/catalog.yaml`, readFileSync(join(root, 'catalog.yaml'), 'utf8'));
const entries = readdirSync(join(root, chart), { recursive: true, withFileTypes: true });
const files = entries
  .filter((entry) => entry.isFile())
  .map((entry) => relative(join(root, chart), join(entry.parentPath, entry.name)))
  .filter((path) => path.startsWith('files/') && path !== 'files/contents.json');
await writeJson(`${chart}/files/contents.json`, files.toSorted());
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
