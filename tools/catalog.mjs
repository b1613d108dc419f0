// Checks a catalogue or a file of characters before it comes into force: `npm run catalog -- check FILE`.
import { parseArgs } from 'node:util';
import { checkFile, priceFactor } from '@svc/catalog';
import { loadConfig } from '@svc/runtime';
import { z } from 'zod';

const USAGE = `Usage: catalog check FILE ... [--against RUNNING] [--force] [--factor N] [--env NAME ...] [--unless-down]

Reports every fault of catalogues and files of characters, and what they would change. Ends with 1 if a
file is broken, names an environment variable that is not set, or moves a price by more than a factor.

  --against RUNNING  the URL of the operator's API (default: OPERATOR_URL; token: SVC_OPERATOR_TOKEN), or
                     the file in force
  --force            reports what would be refused, and ends with 0; processes still refuse it
  --factor N         the factor by which a price may move (default: SVC_CATALOG_PRICE_FACTOR, or 10)
  --env NAME         a variable that the processes have, although it is not set here; may be repeated;
                     * stands for all
  --unless-down      an API that does not respond is no fault`;

export const catalogCheckConfig = {
  OPERATOR_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Where the operator's API listens"),
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
    const [command, ...paths] = positionals;
    if (command === 'check' && paths.length > 0) return { ...values, paths };
  } catch (error) {
    console.error(`${error.message}\n`);
  }
  console.error(USAGE);
  return process.exit(1);
}

async function main() {
  const { paths, against, force, env, ...options } = argumentsOf();
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

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
