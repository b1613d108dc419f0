import { type RouteDefinition, routes } from '@svc/contracts';

const BASE = '/operator/v1/';

const VERBS = { GET: 'get', POST: 'create', PUT: 'set', PATCH: 'change', DELETE: 'delete' } as const;

export type Verb = (typeof VERBS)[keyof typeof VERBS];

/** What each verb does. */
export const VERB_MEANINGS: Readonly<Record<Verb, string>> = {
  get: 'Shows or lists',
  create: 'Creates, or does something once',
  set: 'Sets or replaces',
  change: 'Changes a part',
  delete: 'Ends or removes',
};

/** A route as a command. */
export interface RouteCommand {
  readonly verb: Verb;
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
  const params: string[] = [];
  const words: string[] = [];
  for (const [index, segment] of segments.entries()) {
    const isOne = segments[index + 1]?.startsWith(':') ?? route.method === 'POST';
    if (segment.startsWith(':')) params.push(segment.slice(1));
    else words.push(isOne ? singular(segment) : segment);
  }
  return { verb: VERBS[route.method], name: words.join('-').replaceAll('_', '-'), params, route };
}

const singular = (plural: string): string => plural.replace(/s$/, '');
