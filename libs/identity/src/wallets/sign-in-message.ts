import { Problem } from '@svc/contracts/problems';

/** The kind of wallet that signs. */
export type WalletKind = 'evm' | 'solana';

/** The contents of a signed sign-in message. Times are in Unix milliseconds. */
export interface SignInMessage {
  readonly kind: WalletKind;
  readonly domain: string;
  readonly address: string;
  readonly uri: string;
  readonly version: string;
  readonly chainId: string;
  readonly nonce: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs?: number;
  readonly notBeforeMs?: number;
}

/** A sign-in in its parts, the format of some clients. */
export interface SignInParts {
  readonly domain: string;
  readonly address: string;
  readonly statement?: string | undefined;
  readonly uri: string;
  readonly version: string;
  readonly nonce: string;
  readonly issuedAt: string;
  readonly expirationTime?: string | undefined;
  readonly notBefore?: string | undefined;
  readonly requestId?: string | undefined;
  readonly resources?: readonly string[] | undefined;
}

const ACCOUNTS: Readonly<Record<WalletKind, string>> = { evm: 'Ethereum', solana: 'Solana' };

const HEAD = /^(?:https?:\/\/)?([^\s/]{1,255}) wants you to sign in with your (Ethereum|Solana) account:$/;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** Optional fields in their order. */
const OPTIONAL = ['Expiration Time', 'Not Before', 'Request ID'] as const;

/**
 * The text that a wallet signed for these parts. Source: EIP-4361, and its variant of x402 clients for
 * Solana. `chainId` is only the reference part of the chain.
 */
export function messageText(kind: WalletKind, parts: SignInParts, chainId: string): string {
  const { statement, resources = [] } = parts;
  const optional = [parts.expirationTime, parts.notBefore, parts.requestId];
  // Without a statement, an Ethereum message has an empty line in its place.
  const statementLines = statement ? [statement, ''] : kind === 'evm' ? [''] : [];
  return [
    `${parts.domain} wants you to sign in with your ${ACCOUNTS[kind]} account:`,
    parts.address,
    '',
    ...statementLines,
    `URI: ${parts.uri}`,
    `Version: ${parts.version}`,
    `Chain ID: ${chainId}`,
    `Nonce: ${parts.nonce}`,
    `Issued At: ${parts.issuedAt}`,
    ...OPTIONAL.flatMap((name, index) =>
      optional[index] === undefined ? [] : [`${name}: ${optional[index]}`],
    ),
    ...(resources.length > 0 ? ['Resources:', ...resources.map((resource) => `- ${resource}`)] : []),
  ].join('\n');
}

/**
 * Parses a sign-in message strictly: no field may be repeated or out of order. Refuses:
 * X402_SIGN_IN_INVALID_MESSAGE, X402_SIGN_IN_MISSING_NONCE.
 */
export function readMessage(text: string): SignInMessage {
  const lines = new Lines(text.split('\n'));
  const [, domain = '', account] = HEAD.exec(lines.next()) ?? [];
  if (!account)
    throw fault('The first line must be `<domain> wants you to sign in with your Ethereum account:`.');
  const address = lines.next();
  lines.skipStatement();
  const uri = lines.field('URI');
  const version = lines.field('Version');
  const chainId = lines.field('Chain ID');
  if (!lines.isAt('Nonce')) throw new Problem('X402_SIGN_IN_MISSING_NONCE');
  const nonce = lines.field('Nonce');
  const issuedAtMs = timeOf('Issued At', lines.field('Issued At'));
  const [expiration, notBefore] = OPTIONAL.map((name) => (lines.isAt(name) ? lines.field(name) : undefined));
  lines.end();
  if (nonce === '') throw new Problem('X402_SIGN_IN_MISSING_NONCE');
  if (!/^[A-Za-z0-9]{8,128}$/.test(nonce)) throw fault('The nonce must be 8 to 128 letters and digits.');
  return {
    kind: account === 'Solana' ? 'solana' : 'evm',
    domain,
    address,
    uri,
    version,
    chainId,
    nonce,
    issuedAtMs,
    ...(expiration !== undefined && { expiresAtMs: timeOf('Expiration Time', expiration) }),
    ...(notBefore !== undefined && { notBeforeMs: timeOf('Not Before', notBefore) }),
  };
}

class Lines {
  private place = 0;

  constructor(private readonly lines: readonly string[]) {}

  next(): string {
    const line = this.lines[this.place] ?? '';
    this.place += 1;
    return line;
  }

  /** Skips the optional statement and the empty lines around it. Its text does not matter. */
  skipStatement(): void {
    if (this.next() !== '') throw fault('The third line must be empty.');
    const before = this.place;
    while (this.place < this.lines.length && !this.isAt('URI')) this.place += 1;
    const between = this.lines.slice(before, this.place);
    if (between.length > 3 || between.filter((line) => line !== '').length > 1)
      throw fault('The statement must be a single line.');
  }

  isAt(name: string): boolean {
    return this.lines[this.place]?.startsWith(`${name}: `) ?? false;
  }

  field(name: string): string {
    if (!this.isAt(name)) throw fault(`\`${name}: …\` is missing or in the wrong place.`);
    return this.next().slice(name.length + 2);
  }

  /** Allows nothing more than a list of resources. */
  end(): void {
    if (this.lines[this.place] === 'Resources:') {
      this.place += 1;
      while (this.lines[this.place]?.startsWith('- ')) this.place += 1;
    }
    const left = this.lines.slice(this.place);
    if (left.length > 1 || (left[0] ?? '') !== '') throw fault('There are unexpected lines at the end.');
  }
}

function timeOf(name: string, text: string): number {
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw fault(`\`${name}\` must be a time such as 2026-11-21T10:15:00.000Z.`);
  return ms;
}

function fault(why: string): Problem {
  return new Problem('X402_SIGN_IN_INVALID_MESSAGE', {
    message: `The sign-in message does not have the format of Sign-In with X. ${why}`,
  });
}
