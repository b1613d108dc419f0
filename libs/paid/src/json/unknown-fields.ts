import { type Issue, invalidRequest } from '@svc/contracts/problems';
import { refuseUrls } from './refuse-urls.js';
import { foldedName } from './shape.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Finds the fields of a request that its schema does not have, which are for the backend. Refuses those that
 * differ from a known one only in their spelling, and URLs.
 */
export function unknownFieldsOf(shape: Fields): (request: Fields) => Record<string, unknown> {
  const known = new Map(Object.keys(shape).map((name) => [foldedName(name), name]));
  return (request) => {
    const unknown = Object.entries(request).filter(([name]) => !Object.hasOwn(shape, name));
    const issues = unknown.flatMap(([name]): Issue[] => {
      const expected = known.get(foldedName(name));
      if (expected === undefined) return [];
      return [
        {
          code: 'unrecognized_keys',
          path: [name],
          message: `must be spelled ${expected}`,
        },
      ];
    });
    if (issues.length > 0) throw invalidRequest(issues);
    refuseUrls(unknown);
    return Object.fromEntries(unknown);
  };
}
