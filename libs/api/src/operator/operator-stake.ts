import { z } from 'zod';
import { numberToNano, parseUsd } from '@svc/contracts/money';
import type { RouteDefinition } from '../route/route-definition.js';

/** Keeps any sum of stakes far below the largest balance. */
const MAX_TOKENS = 1_000_000_000;
const MAX_NANO = BigInt(MAX_TOKENS) * 1_000_000_000n;

const INVALID = `must be a number of tokens from 0 to ${MAX_TOKENS} with at most 9 decimals, such as "12.5"`;

/** Nano-tokens; `undefined` for an invalid number of tokens. */
export function parseTokens(tokens: string | number): bigint | undefined {
  const nano = typeof tokens === 'number' ? numberToNano(tokens) : parseUsd(tokens);
  return nano !== undefined && nano >= 0n && nano <= MAX_NANO ? nano : undefined;
}

/** The new stake of an account. */
export const NewStake = z.strictObject({
  /** A decimal string or a number, of at most nine decimals. */
  tokens: z
    .union(
      [
        z.string().regex(/^\d{1,10}(\.\d{1,9})?$/, INVALID),
        z.number().min(0, INVALID).max(MAX_TOKENS, INVALID),
      ],
      {
        error: INVALID,
      },
    )
    .refine((tokens) => parseTokens(tokens) !== undefined, INVALID)
    .meta({ example: '12.5' }),
});

const Tokens = z.string().meta({ example: '12.50' });

export const StakeView = z.object({
  accountId: z.uuid(),
  /** The current stake. */
  tokens: Tokens,
  /** The account's DIEM at the beginning of each day: one for each token. */
  diemEpochAllocation: Tokens,
  /** The last UTC day for which its DIEM was set. */
  grantedOn: z.iso.date().nullable(),
  nextEpochBegins: z.iso.datetime(),
});

export type NewStake = z.infer<typeof NewStake>;
export type StakeView = z.infer<typeof StakeView>;

const accountParams = z.object({ id: z.uuid() });

export const stakeRoutes = {
  getStake: {
    method: 'GET',
    path: '/operator/v1/accounts/:id/stake',
    operationId: 'getStake',
    tag: 'Accounts',
    summary: 'Shows what an account has staked',
    access: 'operator',
    status: 200,
    params: accountParams,
    reply: StakeView,
    refusals: ['INVALID_REQUEST', 'ACCOUNT_NOT_FOUND'],
  },
  setStake: {
    method: 'PUT',
    path: '/operator/v1/accounts/:id/stake',
    operationId: 'setStake',
    tag: 'Accounts',
    summary: 'Sets what an account has staked',
    description: `An epoch is a UTC day. At its beginning, the DIEM of the account is set to its stake: the DIEM left from the
previous day expires, except for what running requests hold. If the DIEM of the account was not set today, it is set immediately.`,
    access: 'operator',
    scope: 'money',
    status: 200,
    params: accountParams,
    body: NewStake,
    reply: StakeView,
    refusals: ['INVALID_REQUEST', 'ACCOUNT_NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDefinition>;
