import { type KeyObject, generateKeyPairSync, sign } from 'node:crypto';
import { base58 } from '@scure/base';
import { createSIWxPayload, encodeSIWxHeader } from '@x402/extensions/sign-in-with-x';
import type { ClientSvmSigner } from '@x402/svm';
import { type PrivateKeyAccount, generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

/** The challenge that a service asks a wallet to sign. */
export interface Challenge {
  readonly info: {
    readonly domain: string;
    readonly uri: string;
    readonly version: string;
    readonly nonce: string;
    readonly issuedAt: string;
    readonly expirationTime?: string;
    readonly statement?: string;
    readonly resources?: string[];
  };
}

/** A buyer's wallet, with the sign-in library of x402 clients. */
export interface TestWallet {
  readonly address: string;
  readonly chainId: string;
  readonly type: 'eip191' | 'ed25519';
  signMessage(text: string): Promise<string>;
  /** The header for a challenge, by the unmodified client library. */
  signIn(challenge: Challenge): Promise<string>;
}

/** A wallet on Base, with the account that payment libraries use. */
export interface EvmWallet extends TestWallet {
  readonly account: PrivateKeyAccount;
}

/** The same on Solana. */
export interface SolanaWallet extends TestWallet {
  readonly signer: ClientSvmSigner;
}

/** A new wallet on Base. */
export function evmWallet(): EvmWallet {
  const account = privateKeyToAccount(generatePrivateKey());
  const chain = { chainId: 'eip155:8453', type: 'eip191' } as const;
  return {
    ...chain,
    account,
    address: account.address,
    signMessage: (message) => account.signMessage({ message }),
    signIn: async ({ info }) =>
      encodeSIWxHeader(await createSIWxPayload({ ...info, ...chain }, account, info.uri)),
  };
}

/** A new wallet on Solana. */
export function solanaWallet(): SolanaWallet {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const address = base58.encode(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32));
  const chain = { chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', type: 'ed25519' } as const;
  const signer = {
    publicKey: address,
    signMessage: (message: Uint8Array) => Promise.resolve(signed(message, privateKey)),
  };
  return {
    ...chain,
    address,
    signer: {
      address,
      signTransactions: (transactions: readonly { readonly messageBytes: Uint8Array }[]) =>
        Promise.resolve(
          transactions.map(({ messageBytes }) => ({ [address]: signed(messageBytes, privateKey) })),
        ),
      // The library checks the types of addresses and signatures, and these come from another library.
    } as unknown as ClientSvmSigner,
    signMessage: (text) => Promise.resolve(base58.encode(signed(Buffer.from(text), privateKey))),
    signIn: async ({ info }) =>
      encodeSIWxHeader(await createSIWxPayload({ ...info, ...chain }, signer, info.uri)),
  };
}

/** A new account, and its key in the format of `solana-keygen`. */
export function solanaKeyPair(): { address: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const half = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return { address: base58.encode(half), key: JSON.stringify([...seed, ...half]) };
}

const signed = (message: Uint8Array, key: KeyObject): Uint8Array => new Uint8Array(sign(null, message, key));

/** Any JSON as the value of a header. */
export const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** A challenge of a service at this origin, as a client can create it by itself. */
export function challengeOf(url: string, info: Partial<Challenge['info']> = {}): Challenge {
  const { host, origin } = new URL(url);
  const now = Date.now();
  return {
    info: {
      domain: host,
      uri: origin,
      version: '1',
      nonce: `n${Math.random().toString(36).slice(2)}${now.toString(36)}`,
      issuedAt: new Date(now).toISOString(),
      expirationTime: new Date(now + 240_000).toISOString(),
      statement: 'Sign in to Svc API',
      ...info,
    },
  };
}

/** The sign-in headers of a wallet for a service at this origin. */
export const signedInAt = async (url: string, wallet: TestWallet): Promise<Record<string, string>> => ({
  'SIGN-IN-WITH-X': await wallet.signIn(challengeOf(url)),
});
