import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { WalletApiKey } from '@svc/api/keys';
import { MINUTE_MS, walletName } from '@svc/contracts/ports';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import { AccountStore, type MadeKey } from '@svc/identity/accounts';
import { TicketStore } from '@svc/identity/console';
import { PublicOrigin, Signatures, signingWallet } from '@svc/identity/wallets';
import { jsonOrUndefined } from '@svc/runtime';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ApiKeys } from './api-keys.js';

/** How long a token may be used. Source: the public interface. */
const TOKEN_MS = 15 * MINUTE_MS;

/** What stands for a token until it is used: the key of its own signature. */
const ticketOfToken = (key: string): string => `wallet key:${key}`;

/** The claims of a token. Source: RFC 7519. */
const Claims = z.object({ iss: z.string(), jti: z.string(), exp: z.number() });

/** Gives the account of a wallet a key, for clients that can send nothing but a key. */
@Injectable()
export class WalletKeys {
  constructor(
    private readonly tickets: TicketStore,
    private readonly signatures: Signatures,
    private readonly accounts: AccountStore,
    private readonly keys: ApiKeys,
    private readonly origin: PublicOrigin,
  ) {}

  /** A token that a wallet signs. Its own signature has a new key each time. Refuses: X402_NOT_CONFIGURED. */
  async token(request: FastifyRequest): Promise<string> {
    const { origin } = this.origin.get(request);
    const key = randomBytes(32).toString('hex');
    const jti = await this.tickets.issue(ticketOfToken(key), TOKEN_MS);
    const issuedAt = Math.floor(Date.now() / 1_000);
    const claims = { iss: origin, aud: origin, iat: issuedAt, exp: issuedAt + TOKEN_MS / 1_000, jti };
    const signed = [{ alg: 'HS256', typ: 'JWT' }, claims].map(encoded).join('.');
    return `${signed}.${signatureOf(signed, key)}`;
  }

  /**
   * A new key for the account of the wallet that signed a token. The token is used up last, so that a wrong
   * signature does not cost its owner the token. Refuses: INVALID_REQUEST, ACCOUNT_SUSPENDED,
   * X402_NOT_CONFIGURED, UNAVAILABLE.
   */
  async create(
    { address, token, signature, ...terms }: WalletApiKey,
    request: FastifyRequest,
  ): Promise<MadeKey> {
    const { origin } = this.origin.get(request);
    const claims = readClaims(token, origin);
    const wallet = await this.signer({ address, text: token, signature });
    const ticket = await this.tickets.use(claims.jti);
    if (ticket === undefined) throw fault('token', 'has been used or is not from this service');
    const [head = '', body = '', mark = ''] = token.split('.');
    const key = ticket.slice(ticketOfToken('').length);
    if (ticket !== ticketOfToken(key) || !isSame(mark, signatureOf(`${head}.${body}`, key)))
      throw fault('token', 'was changed');
    const { id, state } = await this.accounts.ofWallet(wallet);
    if (state === 'suspended') throw new Problem('ACCOUNT_SUSPENDED');
    return this.keys.create(id, terms);
  }

  private async signer(signed: { address: string; text: string; signature: string }): Promise<string> {
    const { address, text, signature } = signed;
    try {
      const kind = signingWallet(address).startsWith('0x') ? 'evm' : 'solana';
      return walletName(await this.signatures.signer({ text, message: { kind, address }, signature }, true));
    } catch (error) {
      const { code } = Problem.from(error);
      if (code === 'X402_SIGN_IN_INVALID_WALLET')
        throw fault('address', 'must be the address of a wallet on Base or Solana');
      if (code === 'X402_SIGN_IN_INVALID_SIGNATURE')
        throw fault('signature', 'must be that of this wallet for the exact token');
      throw error;
    }
  }
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

const signatureOf = (signed: string, key: string): string =>
  createHmac('sha256', Buffer.from(key, 'hex')).update(signed).digest('base64url');

const isSame = (given: string, expected: string): boolean =>
  given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));

function readClaims(token: string, origin: string): z.infer<typeof Claims> {
  const [, body = '', ...rest] = token.split('.');
  const claims = Claims.safeParse(jsonOrUndefined(Buffer.from(body, 'base64url').toString()));
  if (rest.length !== 1 || !claims.success)
    throw fault('token', 'must be one from GET /api_keys/generate_web3_key');
  if (claims.data.iss !== origin) throw fault('token', 'is from another service');
  if (claims.data.exp * 1_000 <= Date.now()) throw fault('token', 'has expired');
  return claims.data;
}

const fault = (field: string, message: string): Problem => invalidRequest([{ path: [field], message }]);
