import { fileURLToPath, pathToFileURL } from 'node:url';

/** A deliberate fault in one place of the built code, and the test that must detect it. */
export interface Mutant {
  readonly name: string;
  /** The file in `apps/all/test`, and the title of its test (or a part of it). */
  readonly file: string;
  readonly test: string;
  /** The compiled module, relative to the workspace. */
  readonly module: string;
  /** Text that occurs exactly once in the module, and its replacement. */
  readonly find: string;
  readonly replace: string;
  /** The test measures time or memory, so nothing else may run at the same time. */
  readonly isMeasured?: boolean;
}

const VARIABLE = 'SVC_TEST_MUTANT';

/** The environment variable that injects this mutant into the service of a test. */
export const mutantVariable = (mutant: Mutant): Record<string, string> => ({
  [VARIABLE]: JSON.stringify(mutant),
});

/**
 * The Node options that run the app's compiled modules, with the mutated one among them, instead of its
 * bundle; none in a normal run.
 */
export function mutantOptions(): string[] {
  const mutant = process.env[VARIABLE];
  if (mutant === undefined) return [];
  const { module, find, replace } = JSON.parse(mutant) as Mutant;
  const url = pathToFileURL(fileURLToPath(new URL(`../../../../${module}`, import.meta.url))).href;
  const loader = `import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    const app = /^(file:.*)\\/dist\\/([\\w-]+)\\.js$/.exec(specifier);
    const isBundle = app && context.parentURL?.endsWith('/runtime/dist/prelude.js');
    return next(isBundle ? app[1] + '/apps/' + app[2] + '/dist/run.js' : specifier, context);
  },
  load(url, context, next) {
    const loaded = next(url, context);
    if (url !== ${JSON.stringify(url)}) return loaded;
    return { ...loaded, source: String(loaded.source).replace(${JSON.stringify(find)}, () => ${JSON.stringify(replace)}) };
  },
});`;
  return [`--import=data:text/javascript;base64,${Buffer.from(loader).toString('base64')}`];
}
