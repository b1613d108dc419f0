// Checks a catalogue or a file of characters before it comes into force: `npm run catalog -- check FILE`.
import { parseArgs } from 'node:util';
import { checkFile, priceFactor } from '@svc/catalog';
import { loadConfig } from '@svc/runtime';
import { z } from 'zod';

const USAGE = `Usage: catalog check FILE [--against RUNNING] [--force] [--factor N] [--env NAME ...] [--unless-down]

Reports every fault of a catalogue or a file of characters, and what it would change. Ends with 1 if the
file is broken, names an environment variable that is not set, or moves a price by more than a factor.

  --against RUNNING  the URL of the operator's API (token: SVC_OPERATOR_TOKEN), or the file in force
  --force            reports what would be refused, and ends with 0; processes still refuse it
  --factor N         the factor by which a price may move (default: SVC_CATALOG_PRICE_FACTOR, or 10)
  --env NAME         a variable that the processes have, although it is not set here; may be repeated
  --unless-down      an API that does not respond is no fault`;

export const catalogConfig = {
  SVC_CATALOG_PRICE_FACTOR: priceFactor,
  SVC_OPERATOR_TOKEN: z.string().optional().describe("The operator's token"),
};

function argumentsOf() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        against: { type: 'string' },
        force: { type: 'boolean', default: false },
        factor: { type: 'string' },
        env: { type: 'string', multiple: true, default: [] },
        'unless-down': { type: 'boolean', default: false },
      },
    });
    const [command, path, ...others] = positionals;
    if (command === 'check' && path !== undefined && others.length === 0) return { ...values, path };
  } catch (error) {
    console.error(`${error.message}\n`);
  }
  console.error(USAGE);
  return process.exit(2);
}

async function main() {
  const { path, against, force, env, ...options } = argumentsOf();
  const { SVC_CATALOG_PRICE_FACTOR: factor, SVC_OPERATOR_TOKEN: token } = loadConfig(catalogConfig, {
    ...process.env,
    ...(options.factor !== undefined && { SVC_CATALOG_PRICE_FACTOR: options.factor }),
  });
  const { lines, refusal } = await checkFile({
    path,
    against,
    token,
    mayBeDown: options['unless-down'],
    factor,
    isKnown: (name) => (process.env[name] ?? '') !== '' || env.includes(name),
  });
  for (const line of lines) console.log(line);
  if (refusal === undefined) return;
  console.error(`Refused: ${refusal}`);
  if (!force) process.exitCode = 1;
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
