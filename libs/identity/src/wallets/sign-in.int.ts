import { generateKeyPairSync, sign } from 'node:crypto';
import { Payments } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { base58 } from '@scure/base';
import { formatSIWEMessage, formatSIWSMessage } from '@x402/extensions/sign-in-with-x';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { readSignIn } from './sign-in-header.js';
import { messageText } from './sign-in-message.js';
import { Signatures } from './signatures.js';
import { checkTerms } from './wallets.js';

const ORIGIN = new URL('https://api.example');
const NOW = Date.parse('2026-11-21T10:15:00.000Z');
const EVM = privateKeyToAccount(generatePrivateKey());
const KEY = generateKeyPairSync('ed25519');
const SOLANA = base58.encode(KEY.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32));
const REFERENCE = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';

const refuse = (): Promise<never> => Promise.reject(new Problem('X402_NOT_CONFIGURED'));

/** A deployment without a configured chain. */
class NoChain extends Payments {
  override readonly rails = refuse;
  override readonly topUp = refuse;
  override readonly unsignedTransfer = refuse;
  override readonly hasSigned = refuse;
  override readonly list = refuse;
  override readonly get = refuse;
  override readonly totals = refuse;
  override readonly retry = refuse;
  override readonly resolve = refuse;
  override readonly audit = refuse;
}

const signatures = new Signatures(new NoChain());

type Json = Record<string, unknown>;

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
const at = (seconds: number): string => new Date(NOW + seconds * 1_000).toISOString();

const PARTS = {
  domain: 'api.example',
  address: EVM.address as string,
  statement: 'Sign in to Svc API',
  uri: 'https://api.example/api/v1/chat/completions',
  version: '1',
  nonce: '0123456789abcdef',
  issuedAt: at(-10),
  expirationTime: at(290),
  resources: ['https://api.example/a', 'https://api.example/b'],
};
const SOLANA_PARTS = { ...PARTS, address: SOLANA };

const signedOnSolana = (text: string): string => base58.encode(sign(null, Buffer.from(text), KEY.privateKey));

/** A signed sign-in in its parts. */
async function parts(changed: Json = {}): Promise<Json> {
  const all = { ...PARTS, ...changed };
  const signature = await EVM.signMessage({ message: messageText('evm', all, '8453') });
  return { chainId: 'eip155:8453', type: 'eip191', signature, ...all };
}

/** A signed sign-in with its text. */
async function text(change: (message: string) => string = (message) => message): Promise<Json> {
  const message = change(messageText('evm', PARTS, '8453'));
  return { address: PARTS.address, chainId: 8453, message, signature: await EVM.signMessage({ message }) };
}

/** The wallet that signed in, or the code of the refusal. */
async function enter(header: string, nowMs = NOW): Promise<string> {
  try {
    const signIn = readSignIn(header);
    checkTerms(signIn.message, ORIGIN, nowMs);
    return await signatures.signer(signIn, false);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const status = error.status === 401 ? '' : error.status;
    return `${error.code.replace('X402_SIGN_IN_', '')}${status}`;
  }
}

describe('the text rebuilt from the parts of a sign-in', () => {
  const { address, ...info } = { ...PARTS, chainId: 'eip155:8453', type: 'eip191' as const };

  it.each([
    ['with all parts', info],
    ['without a statement', { ...info, statement: undefined }],
    ['without resources', { ...info, resources: undefined }],
    ['with a request id and a beginning', { ...info, requestId: 'r-1', notBefore: at(-60) }],
  ])('equals that of the x402 library on Base, %s', (_, changed) => {
    const made = messageText('evm', { ...changed, address }, '8453');
    expect(made).toBe(formatSIWEMessage(changed, address));
  });

  it.each([
    ['with all parts', info],
    ['without a statement', { ...info, statement: undefined }],
  ])('equals that of the x402 library on Solana, %s', (_, changed) => {
    const solana = { ...changed, chainId: `solana:${REFERENCE}`, type: 'ed25519' as const };
    expect(messageText('solana', { ...changed, address: SOLANA }, REFERENCE)).toBe(
      formatSIWSMessage(solana, SOLANA),
    );
  });
});

describe('accepts', () => {
  it('a wallet on Base, by parts or by text, with its address in any case', async () => {
    const wallet = EVM.address.toLowerCase();
    expect(await enter(base64(await parts()))).toBe(wallet);
    expect(await enter(base64(await parts({ address: wallet })))).toBe(wallet);
    expect(await enter(base64(await text()))).toBe(wallet);
    expect(await enter(base64({ ...(await text()), chainId: '8453', timestamp: NOW }))).toBe(wallet);
    const { chainId: _, ...without } = await text();
    expect(await enter(base64(without))).toBe(wallet);
  });

  it('a wallet on Solana, with its signature in base58 or base64', async () => {
    const message = messageText('solana', SOLANA_PARTS, REFERENCE);
    const signature = signedOnSolana(message);
    const shown = { address: SOLANA, chainId: `solana:${REFERENCE}`, type: 'ed25519', message };
    expect(await enter(base64({ ...shown, signature }))).toBe(SOLANA);
    const inBase64 = Buffer.from(base58.decode(signature)).toString('base64');
    expect(await enter(base64({ ...shown, signature: inBase64 }))).toBe(SOLANA);
    const { message: _, ...others } = shown;
    expect(await enter(base64({ ...SOLANA_PARTS, ...others, signature }))).toBe(SOLANA);
  });

  it('a sign-in up to 5 minutes old or 30 seconds ahead', async () => {
    const header = base64(await parts({ expirationTime: undefined }));
    const issued = NOW - 10_000;
    expect(await enter(header, issued + 300_000)).toMatch(/^0x/);
    expect(await enter(header, issued + 300_001)).toBe('EXPIRED');
    expect(await enter(header, issued - 30_000)).toMatch(/^0x/);
    expect(await enter(header, issued - 30_001)).toBe('FUTURE_TIMESTAMP');
  });
});

describe('rejects keys of small order', () => {
  it.each([
    '0100000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000080',
    '0000000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ])('%s', async (hex) => {
    const address = base58.encode(Buffer.from(hex, 'hex'));
    // With R the identity and s zero, this signature is valid for any text under the identity key.
    const forged = Buffer.concat([Buffer.from(`01${'00'.repeat(31)}`, 'hex'), Buffer.alloc(32)]);
    const message = messageText('solana', { ...SOLANA_PARTS, address }, REFERENCE);
    const shown = { address, chainId: `solana:${REFERENCE}`, message, signature: base58.encode(forged) };
    expect(await enter(base64(shown))).toBe('INVALID_WALLET');
  });
});

const NO_HEADERS = [
  '',
  ' ',
  '=',
  'null',
  '{}',
  'e30',
  '%%%%',
  'a'.repeat(20_000),
  '\u0000',
  'AAAA====',
  'Bearer x',
  '7',
];
const NO_PAYLOADS: unknown[] = [
  null,
  1,
  'text',
  [],
  [[]],
  {},
  { address: 1 },
  { message: 'x' },
  { signature: '0x' },
  { address: 'x', signature: 'y', message: 7 },
  { address: 'x', signature: 'y', message: null },
  { address: {}, signature: {}, message: {} },
  { __proto__: null, constructor: 1 },
];

describe('rejects', () => {
  it.each(NO_HEADERS)('an invalid header (%#)', async (header) => {
    expect(await enter(header)).toMatch(/^(INVALID_PAYLOAD|PARSE_ERROR)$/);
  });

  it.each(NO_PAYLOADS)('the payload %j', async (payload) => {
    expect(await enter(base64(payload))).toBe('INVALID_PAYLOAD');
  });

  const FIELDS = Object.keys(PARTS);
  const BAD: unknown[] = [7, null, {}, ['x'], '', 'x\ny', 'x'.repeat(9_000), '\u0000'];
  it.each(FIELDS.flatMap((field) => BAD.map((value) => [field, value] as const)))(
    'a sign-in whose %s has an invalid value (%#)',
    async (field, value) => {
      const header = base64({ ...(await parts()), [field]: value });
      expect(await enter(header)).toMatch(/^[A-Z_]+$/);
    },
  );

  it.each([
    ['DOMAIN_MISMATCH', { domain: 'evil.example' }],
    ['DOMAIN_MISMATCH', { domain: 'api.example.evil.example' }],
    ['DOMAIN_MISMATCH', { uri: 'https://evil.example/' }],
    ['DOMAIN_MISMATCH', { uri: 'https://api.example:8443/' }],
    ['DOMAIN_MISMATCH', { uri: 'http://api.example/' }],
    ['DOMAIN_MISMATCH', { uri: 'no url' }],
    ['INVALID_MESSAGE', { version: '2' }],
    ['INVALID_MESSAGE', { nonce: 'short' }],
    ['INVALID_MESSAGE', { nonce: 'has a space in it' }],
    ['MISSING_NONCE', { nonce: '' }],
    ['MISSING_NONCE', { nonce: undefined }],
    ['EXPIRED', { issuedAt: at(-301) }],
    ['EXPIRED', { expirationTime: at(0) }],
    ['EXPIRED', { expirationTime: at(-1) }],
    ['FUTURE_TIMESTAMP', { issuedAt: at(31) }],
    ['NOT_BEFORE', { notBefore: at(31) }],
    ['INVALID_MESSAGE', { issuedAt: 'yesterday' }],
    ['INVALID_MESSAGE', { issuedAt: '2026-13-41T10:15:00Z' }],
    ['INVALID_MESSAGE', { expirationTime: '1795220031' }],
    ['INVALID_WALLET', { address: '0x12' }],
    ['INVALID_WALLET', { address: SOLANA }],
    ['INVALID_WALLET', { address: 'nobody' }],
  ])('with %s a sign-in with %j', async (code, changed) => {
    expect(await enter(base64(await parts(changed)))).toBe(code);
  });

  it.each([
    ['UNSUPPORTED_CHAIN', { chainId: 'eip155:1' }],
    ['UNSUPPORTED_CHAIN', { chainId: 84_532 }],
    ['INVALID_CHAIN_ID', { chainId: 'eip155:base' }],
    ['INVALID_CHAIN_ID', { chainId: '' }],
    ['INVALID_CHAIN_ID', { chainId: -1 }],
    ['CHAIN_MISMATCH', { type: 'ed25519' }],
    ['TIMESTAMP_MISMATCH', { timestamp: NOW + 60_000 }],
    ['INVALID_PAYLOAD', { timestamp: 'now' }],
    ['INVALID_SIGNATURE', { signature: '0x' }],
    ['INVALID_SIGNATURE', { signature: `0x${'00'.repeat(65)}` }],
    ['INVALID_SIGNATURE', { signature: `0x${'ff'.repeat(65)}` }],
    ['INVALID_SIGNATURE', { signature: `0x${'11'.repeat(64)}1b` }],
    ['INVALID_SIGNATURE', { signature: 'zz'.repeat(65) }],
    ['INVALID_SIGNATURE', { nonce: 'fedcba9876543210' }],
    ['INVALID_SIGNATURE', { statement: 'Give me everything' }],
  ])('with %s a sign-in with %j changed after signing', async (code, changed) => {
    expect(await enter(base64({ ...(await parts()), ...changed }))).toBe(code);
  });

  it.each([
    ['INVALID_MESSAGE', (message: string) => message.replace('Ethereum', 'Dogecoin')],
    ['INVALID_MESSAGE', (message: string) => message.replace('\n\n', '\n')],
    ['INVALID_MESSAGE', (message: string) => message.replace('Sign in', 'Sign in\nand more\nand')],
    ['INVALID_MESSAGE', (message: string) => `${message}\nNonce: 0123456789abcdeg`],
    ['INVALID_MESSAGE', (message: string) => message.replace('Version: 1\n', '')],
    ['INVALID_MESSAGE', (message: string) => message.replace('Nonce: ', 'Nonce: 0123456789abcdef\nNonce: ')],
    ['INVALID_MESSAGE', (message: string) => message.replaceAll('\n', '\r\n')],
    ['INVALID_MESSAGE', () => ''],
    ['INVALID_MESSAGE', () => '\n'.repeat(4_000)],
    ['MISSING_NONCE', (message: string) => message.replace(/Nonce: .*\n/, '')],
    ['ADDRESS_MISMATCH', (message: string) => message.replace(EVM.address, `0x${'1'.repeat(40)}`)],
    ['CHAIN_MISMATCH', (message: string) => message.replace('Ethereum', 'Solana')],
    ['UNSUPPORTED_CHAIN', (message: string) => message.replace('Chain ID: 8453', 'Chain ID: 1')],
    ['DOMAIN_MISMATCH', (message: string) => message.replace('api.example wants', 'evil.example wants')],
  ])('with %s a signed text in another format', async (code, change) => {
    expect(await enter(base64(await text(change)))).toBe(code);
  });
});
