interface UnitView {
  /** The name that bills show. */
  readonly shownAs: string;
  /** How many units bills show and price as one. */
  readonly size: number;
}

/** The units that prices are for. A quantity is a whole number of them. */
const UNITS = {
  token: { shownAs: 'mtoken', size: 1_000_000 },
  character: { shownAs: 'mchar', size: 1_000_000 },
  search: { shownAs: 'search', size: 1 },
  request: { shownAs: 'request', size: 1 },
  page: { shownAs: 'page', size: 1 },
  millisecond: { shownAs: 'second', size: 1_000 },
  track: { shownAs: 'track', size: 1 },
  image: { shownAs: 'image', size: 1 },
  credit: { shownAs: 'credit', size: 1 },
} as const satisfies Record<string, UnitView>;

export type Unit = keyof typeof UNITS;

/** How bills show a unit. An unknown one is shown under its own name, in millions. */
export function unitView(unit: string): UnitView {
  return Object.hasOwn(UNITS, unit) ? UNITS[unit as Unit] : { shownAs: unit, size: 1_000_000 };
}

/** What the tokens of a request are, with the part of the SKU that says so. */
const TOKEN_KINDS = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache-input',
  cacheWrite: 'cache-write',
} as const;

export type TokenKind = keyof typeof TOKEN_KINDS;

/** The tiers of service that a model may have beside the default one. */
export const SERVICE_TIERS = ['flex', 'priority', 'batch'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

/** The SKU of a text model's tokens of one kind; without a tier, in the default one. */
export function tokenSku(modelId: string, kind: TokenKind, tier?: ServiceTier): string {
  const part = tier === undefined ? TOKEN_KINDS[kind] : `${tier}-${TOKEN_KINDS[kind]}`;
  return `${modelId}-llm-${part}-${UNITS.token.shownAs}`;
}

/** The SKUs of a text model's tokens of one kind in every tier. */
export const tokenSkus = (modelId: string, kind: TokenKind): readonly string[] =>
  [undefined, ...SERVICE_TIERS].map((tier) => tokenSku(modelId, kind, tier));

/**
 * What the tokens of a line are; undefined if it has none. The tokens of models without output, such as those
 * for embeddings, are input.
 */
export function tokenKindOf(
  modelId: string,
  { sku, unit }: { sku: string; unit: string },
): TokenKind | undefined {
  if (unit !== 'token') return undefined;
  const kinds = Object.keys(TOKEN_KINDS) as TokenKind[];
  return kinds.find((kind) => tokenSkus(modelId, kind).includes(sku)) ?? 'input';
}

const TIERED_SKU = new RegExp(
  `-llm-(${SERVICE_TIERS.join('|')})-(?:${Object.values(TOKEN_KINDS).join('|')})-${UNITS.token.shownAs}$`,
);

/** The tier of the SKU of a text model's tokens; undefined for the default one, and for other SKUs. */
export function tierOfSku(sku: string): ServiceTier | undefined {
  const name = TIERED_SKU.exec(sku)?.[1];
  return SERVICE_TIERS.find((tier) => tier === name);
}

/** A line as it is stored or sent. Lines of earlier releases have no unit. */
interface StoredLine {
  readonly sku: string;
  readonly unit?: string | null | undefined;
}

/** The unit of a stored line. Without one, it is the last part of the SKU. */
export function unitOf({ sku, unit }: StoredLine): string {
  if (unit !== undefined && unit !== null) return unit;
  const last = sku.slice(sku.lastIndexOf('-') + 1);
  return last === UNITS.token.shownAs ? 'token' : last;
}
