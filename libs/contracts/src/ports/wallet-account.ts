import { createHash } from 'node:crypto';

/** An address as wallets are told apart by: on Base its case says nothing. */
export function walletName(address: string): string {
  return address.startsWith('0x') ? address.toLowerCase() : address;
}

/** The account of a wallet. Its id follows from the wallet's name, so that nobody looks it up or makes it twice. */
export function walletAccountId(wallet: string): string {
  const bytes = createHash('sha256').update(`svc wallet account\n${wallet}`).digest().subarray(0, 16);
  // The form of a UUID whose bits are of its maker's choice. Source: RFC 9562 §5.8.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
