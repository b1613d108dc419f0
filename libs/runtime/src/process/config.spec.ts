import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { internalTokens, loadConfig, port } from './config.js';

const shape = {
  PORT: port,
  LEDGER_URL: z.string().describe('Where the ledger listens'),
  PLAIN: z.string(),
};

describe('loadConfig', () => {
  it('reports every missing or invalid setting on its own line, with its purpose', () => {
    expect(() => loadConfig(shape, { PORT: '70000', LEDGER_URL: '' })).toThrow(
      [
        'PORT: must be at most 65535',
        'LEDGER_URL is not set. Where the ledger listens',
        'PLAIN is not set',
      ].join('\n'),
    );
  });
});

describe('internal tokens', () => {
  const tokens = internalTokens({ accepts: 'PAYMENTS', sends: ['LEDGER'], maySend: ['GATEWAY'] });
  const [shared, next, own, ownNext, ledger] = ['s', 't', 'o', 'p', 'l'].map((letter) => letter.repeat(32));

  it.each([
    ['one for all services', { SVC_INTERNAL_TOKEN: shared }, [shared, undefined, shared]],
    [
      'one for all services, during its rotation',
      { SVC_INTERNAL_TOKEN: shared, SVC_INTERNAL_TOKEN_SECOND: next },
      [shared, next, shared],
    ],
    ['one for each service', { PAYMENTS_TOKEN: own, LEDGER_TOKEN: ledger }, [own, undefined, ledger]],
    [
      'one for each service, during a rotation',
      { PAYMENTS_TOKEN: own, PAYMENTS_TOKEN_SECOND: ownNext, LEDGER_TOKEN: ledger },
      [own, ownNext, ledger],
    ],
    [
      'one for each service, which replaces both shared ones',
      {
        PAYMENTS_TOKEN: own,
        LEDGER_TOKEN: ledger,
        SVC_INTERNAL_TOKEN: shared,
        SVC_INTERNAL_TOKEN_SECOND: next,
      },
      [own, undefined, ledger],
    ],
  ])('%s', (_what, env, expected) => {
    const config = loadConfig(tokens, env);
    expect([config.PAYMENTS_TOKEN, config.PAYMENTS_TOKEN_SECOND, config.LEDGER_TOKEN]).toEqual(expected);
  });

  it('are reported by the names of both settings if neither is set', () => {
    expect(() => loadConfig(tokens, {})).toThrow(
      [
        'PAYMENTS_TOKEN is not set, and neither is SVC_INTERNAL_TOKEN. The token by which callers of this process authenticate',
        'LEDGER_TOKEN is not set, and neither is SVC_INTERNAL_TOKEN. The token by which callers of billing-ledger authenticate',
      ].join('\n'),
    );
  });

  it('of services that need not exist are needed if these have a URL', () => {
    const env = { PAYMENTS_TOKEN: own, LEDGER_TOKEN: ledger };
    expect(loadConfig(tokens, env).GATEWAY_TOKEN).toBeUndefined();
    expect(loadConfig(tokens, { SVC_INTERNAL_TOKEN: shared }).GATEWAY_TOKEN).toBe(shared);
    expect(() => loadConfig(tokens, { ...env, GATEWAY_URL: 'http://gateway' })).toThrow(
      'GATEWAY_TOKEN is not set, and neither is SVC_INTERNAL_TOKEN. The token by which callers of api-gateway authenticate',
    );
  });

  it('have at least 32 characters each', () => {
    expect(() => loadConfig(tokens, { SVC_INTERNAL_TOKEN: shared, LEDGER_TOKEN: 'short' })).toThrow(
      /^LEDGER_TOKEN:/,
    );
  });
});
