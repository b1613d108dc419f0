import { fileURLToPath, pathToFileURL } from 'node:url';

/** One place of the built code, made worse, and the test that must see it. */
export interface Weakening {
  readonly name: string;
  /** The file in `apps/all/test`, and the name of its test (or a part of it). */
  readonly file: string;
  readonly test: string;
  /** The compiled module, from the root of the workspace. */
  readonly module: string;
  /** Text that the module has exactly once, and what takes its place. */
  readonly find: string;
  readonly replace: string;
  /** The test measures time or memory: nothing else runs beside it. */
  readonly isMeasured?: boolean;
}

const VARIABLE = 'SVC_TEST_WEAKENING';

/** The variable that makes the service of a test the weakened one. */
export const weakenedBy = (weakening: Weakening): Record<string, string> => ({
  [VARIABLE]: JSON.stringify(weakening),
});

/** What Node needs to be told so that it loads the weakened module; nothing in a usual run. */
export function weakeningOptions(): string[] {
  const weakening = process.env[VARIABLE];
  if (weakening === undefined) return [];
  const { module, find, replace } = JSON.parse(weakening) as Weakening;
  const url = pathToFileURL(fileURLToPath(new URL(`../../../../${module}`, import.meta.url))).href;
  const loader = `import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (url !== ${JSON.stringify(url)}) return loaded;
    return { ...loaded, source: String(loaded.source).replace(${JSON.stringify(find)}, () => ${JSON.stringify(replace)}) };
  },
});`;
  return [`--import=data:text/javascript;base64,${Buffer.from(loader).toString('base64')}`];
}
