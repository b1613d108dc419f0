import type { RouteDefinition } from '@svc/contracts';

interface KnownPath {
  readonly segments: readonly string[];
  readonly route: RouteDefinition;
}

/** What paths there are, whatever the method. Asked only where a request found no route. */
export class KnownPaths {
  private readonly paths: KnownPath[] = [];

  add(route: RouteDefinition): void {
    this.paths.push({ segments: route.path.split('/'), route });
  }

  /** The routes that have the path of this URL. */
  at(url: string): RouteDefinition[] {
    const given = segmentsOf(url);
    return this.paths.filter(({ segments }) => matches(segments, given)).map(({ route }) => route);
  }
}

/** The methods that routes take, as in `Allow`. */
export function methodsOf(routes: readonly RouteDefinition[]): string {
  const methods = new Set<string>(routes.map(({ method }) => method));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].toSorted().join(', ');
}

/** The decoded path of a URL, in pieces. Of an absolute one the host counts for nothing. */
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
