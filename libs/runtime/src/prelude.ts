// Runs before a main loads anything else: nothing here may need a recent Node.
import module from 'node:module';
import { join } from 'node:path';

/** The first version with everything this code uses. */
const NODE_MAJOR = 26;

/**
 * Exits with a one-line message if Node is too old. Caches compiled code in a folder beside the main: loading
 * modules is most of a start, and half of that is compiling them.
 */
export function prepare(mainFolder: string): void {
  const [major] = process.versions.node.split('.');
  if (Number(major) < NODE_MAJOR) {
    process.stderr.write(
      `This program needs Node ${NODE_MAJOR} or newer, but runs on ${process.version}. "npm ci" installs it as node_modules/.bin/node, and npm scripts use it.\n`,
    );
    process.exit(1);
  }
  // Without write access to the folder, nothing is cached.
  module.enableCompileCache(join(mainFolder, 'compile-cache'));
}
