import type { Catalog } from '@svc/catalog';
import type { WireCall } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import type { z } from 'zod';
import type { LiveBackend } from './backend-pool.js';

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
export type Passing = <Value>(others: Record<string, Value>, live: LiveBackend) => Record<string, Value>;

/** Passes the fields that the kind of backend takes, and those that the catalogue adds for the model. */
export function passing(
  { kind = 'chat', model }: Pick<WireCall, 'kind' | 'model'>,
  catalog: Catalog,
): Passing {
  const extraFields = catalog.extraFieldsOf(model);
  return (others, { dialect }) => {
    const isPassed = (name: string): boolean =>
      extraFields.has(name) || dialect.fields[kind]?.has(name) === true;
    return Object.fromEntries(Object.entries(others).filter(([name]) => isPassed(name)));
  };
}
