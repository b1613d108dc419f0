// Runs before a main loads anything else: nothing here may need a recent Node.
import module from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';
import type { Environment } from './process/run-process.js';

/** The first version with everything this code uses. */
const NODE_MAJOR = 26;

/** V8's own. */
const GROWTH_FACTOR = 2;

/**
 * How much memory of the old generation may be allocated between two collections, as a share of what is in
 * use. By its own rule, V8 waits until most of it is garbage, which takes 50 MB more.
 */
const OLD_GROWTH_PERCENT = 80;

/**
 * Runs the app whose main is in this folder, from the bundle that tools/bundle.mjs makes of it. Exits with a
 * one-line message if Node is too old. Compiled code is cached in a folder beside the main.
 */
export async function runBundled(mainFolder: string, env: Environment): Promise<void> {
  const [major] = process.versions.node.split('.');
  if (Number(major) < NODE_MAJOR) {
    process.stderr.write(
      `This program needs Node ${NODE_MAJOR} or newer, but runs on ${process.version}. "npm ci" installs it as node_modules/.bin/node, and npm scripts use it.\n`,
    );
    process.exit(1);
  }
  // What a start creates stays, which V8 would take for a need of a larger young generation. This saves 35 MB
  // until there is load.
  v8.setFlagsFromString('--semi-space-growth-factor=1');
  // Without write access to the folder, nothing is cached.
  module.enableCompileCache(join(mainFolder, 'compile-cache'));
  const app = dirname(mainFolder);
  const bundle = join(app, '../../dist', `${basename(app)}.js`);
  const { run } = (await import(pathToFileURL(bundle).href)) as { run: (env: Environment) => Promise<void> };
  await run(env);
  v8.setFlagsFromString(`--semi-space-growth-factor=${GROWTH_FACTOR}`);
  v8.setFlagsFromString(`--heap-growing-percent=${OLD_GROWTH_PERCENT}`);
}
