import { createHash } from 'node:crypto';

/** The canonical form of a wallet's address: on Base its case is insignificant. */
export function walletName(address: string): string {
  return address.startsWith('0x') ? address.toLowerCase() : address;
}

/**
 * The account id of a wallet. It is derived from the wallet's name, so that it needs no lookup and can't be
 * created twice.
 */
export function walletAccountId(wallet: string): string {
  const bytes = createHash('sha256').update(`svc wallet account\n${wallet}`).digest().subarray(0, 16);
  // The version and variant of a custom UUID. Source: RFC 9562 §5.8.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
