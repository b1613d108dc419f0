import type { CatalogFile } from '@svc/contracts/catalog';
import { isJump, movesText, priceMark, priceMoves } from './prices.js';

/** The most faults that a refusal lists. */
const MOST_FAULTS = 20;

interface RefusalRules {
  /** A price may move by this factor without being confirmed; 0 if by any. */
  readonly factor: number;
  /** The environment variables that a catalogue names. */
  readonly names: (file: CatalogFile) => readonly string[];
  /** Whether an environment variable is set. */
  readonly isKnown: (name: string) => boolean;
}

/**
 * Why a valid catalogue may not replace another one, as a message for its operator; `undefined` if it may.
 * Variables that the previous one names may be missing: its backends work without them, or fail already.
 */
export function refusalOf(
  before: CatalogFile | undefined,
  after: CatalogFile,
  { factor, names, isKnown }: RefusalRules,
): string | undefined {
  const old = new Set(before && names(before));
  const missing = new Set(names(after).filter((name) => !old.has(name) && !isKnown(name)));
  const keys = [...missing].map(
    (name) => `the environment variable ${name}, named by apiKeyEnv or cacheSaltEnv, is not set`,
  );
  const faults = [...keys, ...(before ? jumps(before, after, factor) : [])];
  return faults.length === 0 ? undefined : faults.join('; ');
}

/** The prices that move by more than a factor, unless the catalogue confirms them. */
function jumps(before: CatalogFile, after: CatalogFile, factor: number): string[] {
  const mark = priceMark(after);
  if (factor === 0 || after.confirmedPrices === mark) return [];
  const moves = movesText(priceMoves(before, after).filter((move) => isJump(move, factor)));
  if (moves.length === 0) return [];
  const more = moves.length - MOST_FAULTS;
  return [
    ...moves.slice(0, MOST_FAULTS),
    ...(more > 0 ? [`and ${more} more`] : []),
    `a price may move by at most a factor of ${factor}; to confirm these prices, add the line "confirmedPrices: ${mark}" to the file`,
  ];
}

/** The environment variables that a catalogue names, by the process that reads them. */
interface KeyNames {
  /** Keys and secrets of backends and blockchain nodes, which the router reads. */
  readonly backends: readonly string[];
  /** Keys of search providers, which the retrieval worker reads. */
  readonly searches: readonly string[];
}

export function keyNames({ models, cryptoRpc, search }: CatalogFile): KeyNames {
  return { backends: named([models.map(({ backends }) => backends), cryptoRpc]), searches: named(search) };
}

function named(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    (name === 'apiKeyEnv' || name === 'cacheSaltEnv') && typeof member === 'string'
      ? [member]
      : named(member),
  );
}
