import type { RouteDefinition } from '@svc/contracts';

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

/** The methods of these routes, for `Allow`. */
export function methodsOf(routes: readonly RouteDefinition[]): string {
  const methods = new Set<string>(routes.map(({ method }) => method));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].toSorted().join(', ');
}

/** The decoded path segments of a URL. The host of an absolute URL is ignored. */
function segmentsOf(url: string): string[] {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/, '');
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
