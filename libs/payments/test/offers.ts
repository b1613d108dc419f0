import { BASE_NETWORK, BASE_USDC } from '@svc/contracts/money';
import type { Authorization } from '../src/header/payment-header.js';
import { PAY_TO, type TestChain } from './test-chain.js';
import { randomHex } from './simulated-chain.js';

export const UNITS_PER_USD = 1_000_000n;
const VALID_SECONDS = 300n;

/** A payment as a client sends it. */
export interface SignedOffer {
  readonly header: string;
  readonly authorization: Authorization;
}

/** A payment signed for an amount in dollars. */
export async function offerOf(
  chain: TestChain,
  from: Authorization['from'],
  usd: number,
): Promise<SignedOffer> {
  const authorization = await chain.sign({
    network: BASE_NETWORK,
    asset: BASE_USDC,
    from,
    to: PAY_TO,
    value: BigInt(usd) * UNITS_PER_USD,
    validAfter: 0n,
    validBefore: (await chain.time()) + VALID_SECONDS,
    nonce: randomHex(32),
  });
  return { authorization, header: headerOf(authorization) };
}

export function headerOf({ signature, ...authorization }: Authorization, terms: object = {}): string {
  const content = {
    x402Version: 2,
    accepted: { scheme: 'exact', network: BASE_NETWORK, asset: BASE_USDC, payTo: PAY_TO, ...terms },
    payload: { signature, authorization },
  };
  const text = JSON.stringify(content, (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  return Buffer.from(text).toString('base64');
}
