import { z } from 'zod';

const Page = z.record(z.string(), z.unknown());

/** The most pages read of one response; no provider returns more. */
const PAGES_AT_MOST = 100;

/**
 * The objects of the list at a path of a response. Throws if it is not a list; a missing list counts as
 * empty.
 */
export function pagesIn(answer: unknown, path: readonly string[]): Record<string, unknown>[] {
  let at: unknown = Page.parse(answer);
  for (const name of path) at = at === undefined ? undefined : Page.parse(at)[name];
  if (at === undefined || at === null) return [];
  return z
    .array(z.unknown())
    .parse(at)
    .slice(0, PAGES_AT_MOST)
    .flatMap((page) => {
      const read = Page.safeParse(page);
      return read.success ? [read.data] : [];
    });
}
