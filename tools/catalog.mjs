// Checks a catalogue or a file of characters before it comes into force, and makes entries for the models of
// hosted providers: `npm run catalog -- check FILE`, `npm run catalog -- add KIND`.
import { parseArgs } from 'node:util';
import { PROVIDER_FORMS, addModels, checkFile, isListedKind, priceFactor } from '@svc/catalog';
import { loadConfig } from '@svc/runtime';
import { z } from 'zod';

const USAGE = `Usage: catalog check FILE ... [--against RUNNING] [--force] [--factor N] [--env NAME ...] [--unless-down]
       catalog add KIND [MODEL ...] [--url URL] [--key-env NAME] [--prices FILE] [--into CATALOGUE]

check reports every fault of catalogues and files of characters, and what they would change. Ends with 1 if
a file is broken, names an environment variable that is not set, or moves a price by more than a factor.

  --against RUNNING  the URL of the operator's API (default: OPERATOR_URL; token: SVC_OPERATOR_TOKEN), or
                     the file in force
  --force            reports what would be refused, and ends with 0; processes still refuse it
  --factor N         the factor by which a price may move (default: SVC_CATALOG_PRICE_FACTOR, or 10)
  --env NAME         a variable that the processes have, although it is not set here; may be repeated;
                     * stands for all
  --unless-down      an API that does not respond is no fault

add lists the text models that a key of a hosted provider can use, and prints entries of a catalogue for
them, in which what is null is yours to complete. KIND is ${Object.keys(PROVIDER_FORMS).join(', ')}. MODEL is an id, in which *
stands for any characters; by default all models are meant.

  --url URL          the base of the provider's API (default: that of OpenAI, Anthropic or Google)
  --key-env NAME     the environment variable with the key, here and in the entries
                     (default: ${Object.values(PROVIDER_FORMS)
                       .map(({ keyEnv }) => keyEnv)
                       .join(', ')})
  --prices FILE      YAML or JSON: by id of a model its pricing, and other members of its entry
  --into CATALOGUE   appends the entries that are complete to this file`;

export const catalogCheckConfig = {
  OPERATOR_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Where the operator's API listens"),
  SVC_CATALOG_PRICE_FACTOR: priceFactor,
  SVC_OPERATOR_TOKEN: z.string().optional().describe("The operator's token"),
};

const OPTIONS = {
  check: {
    against: { type: 'string' },
    force: { type: 'boolean', default: false },
    factor: { type: 'string' },
    env: { type: 'string', multiple: true, default: [] },
    'unless-down': { type: 'boolean', default: false },
  },
  add: {
    url: { type: 'string' },
    'key-env': { type: 'string' },
    prices: { type: 'string' },
    into: { type: 'string' },
  },
};

function argumentsOf([command = '', ...args]) {
  const options = Object.hasOwn(OPTIONS, command) ? OPTIONS[command] : undefined;
  try {
    if (options) {
      const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
      if (positionals.length > 0) return { command, values, positionals };
    }
  } catch (error) {
    console.error(`${error.message}\n`);
  }
  console.error(USAGE);
  return process.exit(1);
}

async function check(paths, { against, force, env, ...options }) {
  const config = loadConfig(catalogCheckConfig, {
    ...process.env,
    ...(options.factor !== undefined && { SVC_CATALOG_PRICE_FACTOR: options.factor }),
  });
  for (const path of paths) {
    const { lines, refusal } = await checkFile({
      path,
      against: against ?? config.OPERATOR_URL,
      token: config.SVC_OPERATOR_TOKEN,
      mayBeDown: options['unless-down'],
      factor: config.SVC_CATALOG_PRICE_FACTOR,
      isKnown: (name) => (process.env[name] ?? '') !== '' || env.includes(name) || env.includes('*'),
    });
    for (const line of lines) console.log(line);
    if (refusal === undefined) continue;
    console.error(`Refused: ${refusal}`);
    if (!force) process.exitCode = 1;
  }
}

async function add([kind, ...only], { prices, into, ...options }) {
  if (!isListedKind(kind))
    throw new Error(
      `Models of ${kind} can't be listed with a key; the kinds are ${Object.keys(PROVIDER_FORMS).join(', ')}`,
    );
  const form = PROVIDER_FORMS[kind];
  const url = z.url({ protocol: /^https?$/ }).safeParse(options.url ?? form.url);
  if (!url.success) throw new Error(`--url must be the base of an API of the kind ${kind}`);
  const keyEnv = options['key-env'] ?? form.keyEnv;
  const apiKey = process.env[keyEnv] ?? '';
  if (apiKey === '') throw new Error(`${keyEnv} is not set; --key-env names another variable`);
  const { text, ids, lines } = await addModels({ kind, url: url.data, apiKey, keyEnv, only, prices, into });
  if (text !== '') process.stdout.write(text);
  for (const id of ids) console.log(`Added ${id}`);
  for (const line of lines) console.error(`Left out ${line}`);
  if (into !== undefined && ids.length === 0) process.exitCode = 1;
}

async function main() {
  const { command, values, positionals } = argumentsOf(process.argv.slice(2));
  await (command === 'check' ? check(positionals, values) : add(positionals, values));
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
