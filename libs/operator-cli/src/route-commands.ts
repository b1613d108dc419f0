import type { RouteDefinition } from '@svc/api/route';
import { routes } from '@svc/api';

const BASE = '/operator/v1/';

const VERBS = { GET: 'get', POST: 'create', PUT: 'set', PATCH: 'change', DELETE: 'delete' } as const;

/** What each verb does that several commands have. */
export const VERB_MEANINGS: ReadonlyMap<string, string> = new Map([
  ['get', 'Shows or lists; may be left out'],
  ['create', 'Creates, or does something once'],
  ['set', 'Sets or replaces'],
  ['change', 'Changes a part'],
  ['delete', 'Ends or removes'],
]);

/** A route as a command. */
export interface RouteCommand {
  /** That of the method, or the one that ends the path, such as `end` in `jobs/:id/end`. */
  readonly verb: string;
  /** Such as `account-transfers`. */
  readonly name: string;
  /** The names of its positional arguments, in order. */
  readonly params: readonly string[];
  readonly route: RouteDefinition;
}

/** A command for each route of the operator's API. */
export const routeCommands = (): RouteCommand[] =>
  Object.values<RouteDefinition>(routes)
    .filter(({ path }) => path.startsWith(BASE))
    .map(commandOf);

function commandOf(route: RouteDefinition): RouteCommand {
  const segments = route.path.slice(BASE.length).split('/');
  const verb = actionOf(route, segments);
  if (verb !== undefined) segments.pop();
  const params: string[] = [];
  const words: string[] = [];
  for (const [index, segment] of segments.entries()) {
    const isOne = segments[index + 1]?.startsWith(':') ?? route.method === 'POST';
    if (segment.startsWith(':')) params.push(segment.slice(1));
    else words.push(isOne ? singular(segment) : segment);
  }
  const name = words.join('-').replaceAll('_', '-');
  return { verb: verb ?? VERBS[route.method], name, params, route };
}

/** The verb at the end of a path. What can be created has a plural there. */
function actionOf({ method }: RouteDefinition, segments: readonly string[]): string | undefined {
  const [one, last] = segments.slice(-2);
  return method === 'POST' && one?.startsWith(':') && last && !last.endsWith('s') ? last : undefined;
}

/** The arguments with the verb `get` where it was left out. */
export function withVerb(args: readonly string[], commands: readonly RouteCommand[]): string[] {
  // yargs completes what follows these two.
  const start = args[0] === '--get-yargs-completions' ? 2 : 0;
  const isGot = commands.some(({ verb, name }) => verb === 'get' && name === args[start]);
  return isGot ? args.toSpliced(start, 0, 'get') : [...args];
}

const singular = (plural: string): string => plural.replace(/s$/, '');
