import { type Address, type Hex, type TransactionSerializedEIP1559, recoverTransactionAddress } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';

/** Reads a key in hex. An error does not reveal it. */
export function signerOf(key: string): PrivateKeyAccount {
  const hex = key.trim().replace(/^0x/, '');
  if (!/^[0-9a-fA-F]{64}$/.test(hex)) throw new Error('the signer key must be 64 hexadecimal digits');
  return privateKeyToAccount(`0x${hex}`);
}

/** The account that signed a transaction of ours. */
export function senderOf(raw: Hex): Promise<Address> {
  return recoverTransactionAddress({ serializedTransaction: raw as TransactionSerializedEIP1559 });
}
