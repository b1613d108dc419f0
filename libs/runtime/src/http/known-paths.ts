import type { IncomingMessage } from 'node:http';
import { Problem } from '@svc/contracts/problems';
import type { RouteDefinition } from '@svc/api/route';
import { routes } from '@svc/api';
import type { Incoming } from './incoming.js';

/** The beginning of the path of every route for clients, apart from the pages that describe them. */
const BASE = '/api/v1';
/** The path of the console's pages, what they call, and the whole API as they call it. */
export const CONSOLE_HOME = '/console';
const CONSOLE_CALLS = `${CONSOLE_HOME}/api/`;
const CONSOLE_BASE = `${CONSOLE_HOME}${BASE}`;

/** Endpoints that the public interface has retired, with those in their place. */
const RETIRED: ReadonlyMap<string, string> = new Map([
  [`${BASE}/video/transcriptions`, `${BASE}/audio/transcriptions, which takes the sound of the video`],
]);

/** The most characters of an unknown path that are repeated to its client. */
const SHOWN_CHARACTERS = 200;

interface KnownPath {
  readonly segments: readonly string[];
  readonly route: RouteDefinition;
}

/** All paths, whatever the method. Used only if a request matches no route. */
export class KnownPaths {
  private readonly paths: KnownPath[] = [];

  add(route: RouteDefinition): void {
    this.paths.push({ segments: route.path.split('/'), route });
  }

  /** The routes with the path of this URL. */
  at(url: string): RouteDefinition[] {
    const given = segmentsOf(url);
    return this.paths.filter(({ segments }) => matches(segments, given)).map(({ route }) => route);
  }
}

/**
 * The error for a path without a route: ENDPOINT_RETIRED, with the path in its place, or NOT_FOUND. Many
 * clients have a base URL with a part too many or too few, so that names the path that they may mean, or else
 * the place of the description.
 */
export function notFound({ url, operatorSide }: Incoming, paths: KnownPaths): Problem {
  const path = pathOf(url);
  const successor = operatorSide ? undefined : RETIRED.get(path);
  if (successor !== undefined)
    return new Problem('ENDPOINT_RETIRED', { message: `${path} is no longer offered: use ${successor}.` });
  const message = `There is no ${path.slice(0, SHOWN_CHARACTERS)} here`;
  const { path: docs } = routes.docs;
  if (operatorSide || paths.at(docs).length === 0)
    return new Problem('NOT_FOUND', { message: `${message}.` });
  const meant = `${BASE}${path.replace(/^(?:\/(?:api|v1))+(?=\/)/, '')}`;
  const hint =
    meant !== path && paths.at(meant).length > 0
      ? `did you mean ${meant}? Check the base URL`
      : `the API is below ${BASE} and described at ${docs}`;
  return new Problem('NOT_FOUND', { message: `${message}: ${hint}.` });
}

const ofConsole = new WeakSet<IncomingMessage>();

/**
 * Marks a request of the console, and leads `/console/api/v1/…` to the same route as `/api/v1/…`. So the
 * console has every route of the API, and none of its own beside it. Its caller is the session of its cookie,
 * which counts nowhere else.
 */
export function enterConsole(request: IncomingMessage): void {
  const { url = '' } = request;
  if (!url.startsWith(CONSOLE_CALLS)) return;
  ofConsole.add(request);
  if (url.startsWith(`${CONSOLE_BASE}/`)) request.url = url.slice(CONSOLE_HOME.length);
}

/** Whether a request came below `/console/api`. */
export function isOfConsole({ raw }: Pick<Incoming, 'raw'>): boolean {
  return ofConsole.has(raw);
}

/** The methods of these routes, for `Allow`. */
export function methodsOf(routes: readonly RouteDefinition[]): string {
  const methods = new Set<string>(routes.map(({ method }) => method));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].toSorted().join(', ');
}

/** The path of a URL. The host of an absolute URL is ignored. */
const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/, '');

/** The decoded path segments of a URL. Further slashes between them and at the end change nothing. */
function segmentsOf(url: string): string[] {
  const path = pathOf(url)
    .replaceAll(/\/+/g, '/')
    .replace(/(?<=.)\/$/, '');
  return path.split('/').map((segment) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  });
}

function matches(pattern: readonly string[], given: readonly string[]): boolean {
  const open = pattern.at(-1) === '*';
  if (open ? given.length < pattern.length : given.length !== pattern.length) return false;
  return pattern.every((segment, at) => {
    if (segment === '*') return true;
    return segment.startsWith(':') ? given[at] !== '' : segment === given[at];
  });
}
