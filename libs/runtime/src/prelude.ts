// What a main does before it loads anything: nothing here may need a Node that is new.
import module from 'node:module';
import { join } from 'node:path';

/** The first version that has everything this code uses; npm installs one. */
const NODE_MAJOR = 26;

/**
 * Ends the process with one line where Node is too old for the rest of it. Keeps compiled code in the folder beside the
 * main: loading modules is most of a start, and half of that is compiling them.
 */
export function prepare(mainFolder: string): void {
  const [major] = process.versions.node.split('.');
  if (Number(major) < NODE_MAJOR) {
    process.stderr.write(
      `This program needs Node ${NODE_MAJOR} or newer, but runs on ${process.version}. "npm ci" installs it as node_modules/.bin/node, and npm scripts use it.\n`,
    );
    process.exit(1);
  }
  // Where the folder can't be written to, nothing is kept.
  module.enableCompileCache(join(mainFolder, 'compile-cache'));
}
