/** What is bought by the piece beside an answer; the endings of its skus. */
const PIECES: ReadonlySet<string> = new Set(['request', 'page', 'search']);

/** What one of a sku is: the last part of its name. */
export const unitOf = (sku: string): string => sku.slice(sku.lastIndexOf('-') + 1);

/** How many of a sku's units are told and priced as one: a piece, or a million. */
export const unitSize = (unit: string): number => (PIECES.has(unit) ? 1 : 1_000_000);
