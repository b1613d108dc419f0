import { z } from 'zod';

const Page = z.record(z.string(), z.unknown());

/** Pages that are read of one answer; providers have no more on a page of results. */
const PAGES_AT_MOST = 100;

/** The objects of the list at a path of an answer. Throws where there is none; a list that is left out is an empty one. */
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
