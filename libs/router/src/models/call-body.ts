import type { Catalog } from '@svc/catalog';
import { Problem } from '@svc/contracts/problems';
import type { z } from 'zod';

/** The body of a call that the router translates. Throws INVALID_REQUEST on anything else. */
export function readCallBody<Body>(schema: z.ZodType<Body>, body: readonly Uint8Array[]): Body {
  try {
    return schema.parse(JSON.parse(Buffer.concat(body).toString()));
  } catch (error) {
    throw new Problem('INVALID_REQUEST', { cause: error });
  }
}

/** The JSON of a value, as a body. */
export const bytesOf = (value: object): Uint8Array[] => [Buffer.from(JSON.stringify(value))];

/** Those of the further fields of a request that a backend gets. */
export type Passing = <Value>(
  others: Record<string, Value>,
  dialect: { readonly fields: ReadonlySet<string> },
) => Record<string, Value>;

/** Passes the fields that the dialect takes, and those that the catalogue adds for the model. */
export function passing(model: string, catalog: Catalog): Passing {
  const extraFields = catalog.extraFieldsOf(model);
  return (others, { fields }) =>
    Object.fromEntries(Object.entries(others).filter(([name]) => extraFields.has(name) || fields.has(name)));
}
