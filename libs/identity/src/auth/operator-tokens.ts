import { hash, timingSafeEqual } from 'node:crypto';
import { OPERATOR_SCOPES, type OperatorScope } from '@svc/api/route';
import { Problem } from '@svc/contracts/problems';
import { SECRET_LENGTH, StartFault, bearer } from '@svc/runtime';
import { requests } from '@svc/telemetry';
import { type IdentitySettings, MAIN_TOKEN, tokensIn } from '../identity.config.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The name of the operator's token, on the operator's routes. */
    operator?: string;
    /** Whether this request was recorded in the log of operator actions. */
    isNoted?: boolean;
  }
}

interface OperatorToken {
  readonly name: string;
  readonly scopes: readonly OperatorScope[];
  readonly expiresMs: number;
  readonly digest: Buffer;
}

/** The tokens of operators. Only their SHA-256 is kept. */
export class OperatorTokens {
  private readonly tokens: readonly OperatorToken[];

  /** Rejects a main token that is too short to be a secret. */
  constructor({ operatorToken, config }: Pick<IdentitySettings, 'operatorToken' | 'config'>) {
    if (operatorToken.length < SECRET_LENGTH)
      throw new StartFault(`A secret has at least ${SECRET_LENGTH} characters.`);
    const { SVC_OPERATOR_TOKEN_SECOND: second } = config;
    const main = (second === undefined ? [operatorToken] : [operatorToken, second]).map((token) => ({
      name: MAIN_TOKEN,
      scopes: OPERATOR_SCOPES,
      expiresMs: Number.POSITIVE_INFINITY,
      digest: digestOf(token),
    }));
    const named = tokensIn(config.SVC_OPERATOR_TOKENS).map(({ name, scopes, expires, sha256 }) => ({
      name,
      scopes,
      expiresMs: expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires),
      digest: Buffer.from(sha256, 'hex'),
    }));
    this.tokens = [...main, ...named];
    for (const { name, expiresMs } of named)
      if (Number.isFinite(expiresMs)) requests.operatorExpiry.set(expiresMs / 1_000, name);
  }

  /** The scopes of the token with this name, and until when it is accepted. */
  get(name: string): Pick<OperatorToken, 'scopes' | 'expiresMs'> | undefined {
    return this.tokens.find((token) => token.name === name);
  }

  /** The name of the token in an `Authorization` header. Refuses: AUTHENTICATION_FAILED, UNAUTHORIZED. */
  demand(authorization: string | undefined, scope: OperatorScope, nowMs = Date.now()): string {
    const digest = digestOf(bearer(authorization) ?? '');
    // Every token is compared, each in constant time, so that the time does not depend on which one matches.
    const [token] = this.tokens.filter((each) => timingSafeEqual(digest, each.digest));
    if (!token) {
      requests.operatorRefusals.add(1, 'wrong');
      throw new Problem('AUTHENTICATION_FAILED', { message: 'The operator token is missing or wrong.' });
    }
    const { name, scopes, expiresMs } = token;
    if (expiresMs <= nowMs) {
      requests.operatorRefusals.add(1, 'expired');
      const message = `The operator token \`${name}\` expired at ${new Date(expiresMs).toISOString()}.`;
      throw new Problem('AUTHENTICATION_FAILED', { message });
    }
    if (!scopes.includes(scope)) {
      requests.operatorRefusals.add(1, 'scope');
      const message = `The operator token \`${name}\` lacks the scope \`${scope}\`.`;
      throw new Problem('UNAUTHORIZED', { message });
    }
    return name;
  }
}

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');
