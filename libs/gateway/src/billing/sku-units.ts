/** Last parts of the SKUs that are sold by the piece. */
const PIECES: ReadonlySet<string> = new Set(['request', 'page', 'search']);

/** The unit of a SKU: the last part of its name. */
export const unitOf = (sku: string): string => sku.slice(sku.lastIndexOf('-') + 1);

/** How many units are shown and priced as one: a piece, or a million. */
export const unitSize = (unit: string): number => (PIECES.has(unit) ? 1 : 1_000_000);
