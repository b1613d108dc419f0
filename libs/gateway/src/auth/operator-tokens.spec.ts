import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '@svc/runtime';
import { gatewayConfig } from '../gateway.config.js';
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
  loadConfig(gatewayConfig, {
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

describe('a token', () => {
  it('of SVC_OPERATOR_TOKEN may do everything', () => {
    for (const scope of ['read', 'money', 'keys'] as const)
      expect(tokens.demand(`Bearer ${MAIN}`, scope)).toBe('operator');
  });

  it('of SVC_OPERATOR_TOKEN_SECOND may do everything, under the same name', () => {
    const second = 'n'.repeat(32);
    const config = loadConfig(gatewayConfig, { SVC_OPERATOR_TOKEN_SECOND: second });
    const both = new OperatorTokens({ operatorToken: MAIN, config });
    for (const token of [MAIN, second]) expect(both.demand(`Bearer ${token}`, 'money')).toBe('operator');
    expect(refusal(() => tokens.demand(`Bearer ${second}`, 'read'))).toMatchObject({ status: 401 });
  });

  it('of the list may do what its scopes allow, and the refusal names the missing one', () => {
    expect(tokens.demand('Bearer secret of ann', 'keys')).toBe('ann');
    expect(refusal(() => tokens.demand('Bearer secret of ann', 'money'))).toMatchObject({
      status: 403,
      message: 'The operator token `ann` lacks the scope `money`.',
    });
  });

  it('is valid until the moment it expires', () => {
    expect(tokens.demand('Bearer secret of bob', 'read', NOW - 1)).toBe('bob');
    expect(refusal(() => tokens.demand('Bearer secret of bob', 'read', NOW))).toMatchObject({
      status: 401,
      message: 'The operator token `bob` expired at 2026-11-23T12:00:00.000Z.',
    });
  });

  it.each([undefined, '', 'Bearer', 'Bearer ', `Bearer ${MAIN}x`, `Bearer ${ann.sha256}`, MAIN])(
    'is not %j',
    (authorization) => {
      expect(refusal(() => tokens.demand(authorization, 'read'))).toMatchObject({ status: 401 });
    },
  );

  it('of fewer than 32 characters does not start', () => {
    expect(() => new OperatorTokens({ operatorToken: 'short', config: configWith([]) })).toThrow(
      /at least 32/,
    );
  });
});

describe('SVC_OPERATOR_TOKENS', () => {
  it.each([
    ['no JSON', /must be a JSON array/],
    [{}, /expected array/],
    [[ann, { ...bob, name: 'ann' }], /must name each token once/],
    [[ann, { ...ann, name: 'eve' }], /must have a token of its own/],
    [[{ ...ann, name: 'operator' }], /0\.name must not be `operator`/],
    [[{ ...ann, scopes: ['root'] }], /0\.scopes\.0/],
    [[{ ...ann, scopes: [] }], /0\.scopes/],
    [[{ ...ann, expires: 'tomorrow' }], /0\.expires/],
    [[{ ...ann, sha256: 'secret of ann' }], /0\.sha256 must be a SHA-256/],
    [[{ ...ann, token: 'x' }], /token/],
  ])('must not be %j', (list, fault) => {
    expect(() => configWith(list)).toThrow(fault);
  });
});
