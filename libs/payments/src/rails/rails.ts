import { base } from './base.js';
import type { RailKind } from './rail-kind.js';
import { solana } from './solana.js';

/** The ways to pay, as they are offered. A new one is a file next to this and a row here. */
export const RAILS: readonly RailKind[] = [base, solana];
