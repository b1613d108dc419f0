import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '@svc/runtime';
import { requests } from '@svc/telemetry';
import { identityConfig } from '../identity.config.js';
import { OperatorTokens } from './operator-tokens.js';

const MAIN = 'm'.repeat(32);
const NOW = Date.parse('2026-11-23T12:00:00Z');
const ann = { name: 'ann', scopes: ['read', 'keys'], sha256: hash('sha256', 'secret of ann') };
const bob = {
  ...ann,
  name: 'bob',
  expires: '2026-11-23T13:00:00+01:00',
  sha256: hash('sha256', 'secret of bob'),
};

const configWith = (tokens: unknown) =>
  loadConfig(identityConfig, {
    SVC_OPERATOR_TOKENS: typeof tokens === 'string' ? tokens : JSON.stringify(tokens),
  });
const tokens = new OperatorTokens({ operatorToken: MAIN, config: configWith([ann, bob]) });
const refusal = (act: () => unknown): { status?: number; message?: string } => {
  try {
    return { message: String(act()) };
  } catch (error) {
    return error as Error;
  }
};

describe('operator tokens', () => {
  it('are counted when they are refused, by reason, and report when they expire', () => {
    const counted = () =>
      new Map(requests.operatorRefusals.points().map(({ values: [why = ''], value }) => [why, value]));
    const before = counted();
    for (const [token, scope] of [
      ['nobody knows it', 'read'],
      ['secret of bob', 'read'],
      ['secret of ann', 'money'],
      ['secret of ann', 'read'],
    ] as const)
      refusal(() => tokens.demand(`Bearer ${token}`, scope, NOW));
    const since = Array.from(counted(), ([why, count]) => [why, count - (before.get(why) ?? 0)]);
    expect(Object.fromEntries(since)).toEqual({ wrong: 1, expired: 1, scope: 1 });
    const expiries = requests.operatorExpiry.points().map(({ values, value }) => [values[0], value]);
    expect(Object.fromEntries(expiries)).toEqual({ bob: Date.parse(bob.expires) / 1_000 });
  });

  it('grants every scope to SVC_OPERATOR_TOKEN', () => {
    for (const scope of ['read', 'money', 'keys'] as const)
      expect(tokens.demand(`Bearer ${MAIN}`, scope)).toBe('operator');
  });

  it('grants every scope to SVC_OPERATOR_TOKEN_SECOND, under the same name', () => {
    const second = 'n'.repeat(32);
    const config = loadConfig(identityConfig, { SVC_OPERATOR_TOKEN_SECOND: second });
    const both = new OperatorTokens({ operatorToken: MAIN, config });
    for (const token of [MAIN, second]) expect(both.demand(`Bearer ${token}`, 'money')).toBe('operator');
    expect(refusal(() => tokens.demand(`Bearer ${second}`, 'read'))).toMatchObject({ status: 401 });
  });

  it('grants a listed token only its scopes, and names the missing one when it refuses', () => {
    expect(tokens.demand('Bearer secret of ann', 'keys')).toBe('ann');
    expect(refusal(() => tokens.demand('Bearer secret of ann', 'money'))).toMatchObject({
      status: 403,
      message: 'The operator token `ann` lacks the scope `money`.',
    });
  });

  it('accepts a token until the moment it expires', () => {
    expect(tokens.demand('Bearer secret of bob', 'read', NOW - 1)).toBe('bob');
    expect(refusal(() => tokens.demand('Bearer secret of bob', 'read', NOW))).toMatchObject({
      status: 401,
      message: 'The operator token `bob` expired at 2026-11-23T12:00:00.000Z.',
    });
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', `Bearer ${MAIN}x`, `Bearer ${ann.sha256}`, MAIN])(
    'rejects %j',
    (authorization) => {
      expect(refusal(() => tokens.demand(authorization, 'read'))).toMatchObject({ status: 401 });
    },
  );

  it('rejects a main token of fewer than 32 characters', () => {
    expect(() => new OperatorTokens({ operatorToken: 'short', config: configWith([]) })).toThrow(
      /at least 32/,
    );
  });
});

describe('SVC_OPERATOR_TOKENS', () => {
  it.each([
    ['no JSON', /must be a JSON array/],
    [{}, /must be a list/],
    [[ann, { ...bob, name: 'ann' }], /must name each token once/],
    [[ann, { ...ann, name: 'eve' }], /must not contain the same token under two names/],
    [[{ ...ann, name: 'operator' }], /0\.name must not be `operator`/],
    [[{ ...ann, scopes: ['root'] }], /0\.scopes\.0/],
    [[{ ...ann, scopes: [] }], /0\.scopes/],
    [[{ ...ann, expires: 'tomorrow' }], /0\.expires/],
    [[{ ...ann, sha256: 'secret of ann' }], /0\.sha256 must be a SHA-256/],
    [[{ ...ann, token: 'x' }], /token/],
  ])('rejects %j', (list, fault) => {
    expect(() => configWith(list)).toThrow(fault);
  });
});
