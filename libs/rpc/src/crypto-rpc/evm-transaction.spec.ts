import fc from 'fast-check';
import { type TransactionSerializable, keccak256, serializeTransaction, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { readEvmTransaction } from './evm-transaction.js';

const account = privateKeyToAccount(toHex(1n, { size: 32 }));
const to = account.address;
const bytesOf = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');

const common = fc.record({
  to: fc.constant(to),
  nonce: fc.nat(),
  gas: fc.bigInt({ min: 0n, max: 2n ** 64n }),
  value: fc.bigInt({ min: 0n, max: 2n ** 200n }),
  data: fc.uint8Array({ maxLength: 2_000 }).map((bytes) => toHex(bytes)),
  chainId: fc.integer({ min: 1, max: 2 ** 50 }),
});

const typed: fc.Arbitrary<TransactionSerializable> = common.chain((members) =>
  fc.constantFrom<TransactionSerializable>(
    { ...members, type: 'legacy', gasPrice: 1n },
    { ...members, type: 'eip2930', gasPrice: 1n, accessList: [{ address: to, storageKeys: [] }] },
    { ...members, type: 'eip1559', maxFeePerGas: 1n },
  ),
);

/** The hash, or the name of the error. */
function hashOrError(bytes: Uint8Array): string {
  try {
    return readEvmTransaction(bytes).hash;
  } catch (error) {
    return error instanceof Error ? error.name : '';
  }
}

describe('a raw transaction', () => {
  it('has the hash and the chain that viem gives it', async () => {
    await fc.assert(
      fc.asyncProperty(typed, async (transaction) => {
        const raw = await account.signTransaction(transaction);
        expect(readEvmTransaction(bytesOf(raw))).toEqual({
          hash: keccak256(raw),
          chainId: BigInt(transaction.chainId ?? 0),
        });
      }),
      { numRuns: 50 },
    );
  });

  it('has no chain if it was signed for all of them', async () => {
    const raw = await account.signTransaction({ type: 'legacy', to, gas: 21_000n, gasPrice: 1n });
    expect(readEvmTransaction(bytesOf(raw))).toEqual({ hash: keccak256(raw), chainId: undefined });
  });

  it('has the same hash with its blobs and without them', () => {
    const transaction = {
      type: 'eip4844',
      chainId: 8_453,
      to,
      blobVersionedHashes: [`0x01${'00'.repeat(31)}`],
      maxFeePerBlobGas: 1n,
    } as const;
    const signature = { r: toHex(1n, { size: 32 }), s: toHex(2n, { size: 32 }), yParity: 1 };
    const plain = serializeTransaction({ ...transaction, sidecars: false }, signature);
    const sidecars = [
      {
        blob: toHex(new Uint8Array(131_072)),
        commitment: toHex(1n, { size: 48 }),
        proof: toHex(2n, { size: 48 }),
      },
    ] as const;
    const full = serializeTransaction({ ...transaction, sidecars }, signature);
    const expected = { hash: keccak256(plain), chainId: 8_453n };
    expect(readEvmTransaction(bytesOf(plain))).toEqual(expected);
    expect(readEvmTransaction(bytesOf(full))).toEqual(expected);
  });

  it('of a type that only its chain knows has the hash of its bytes', () => {
    expect(readEvmTransaction(bytesOf('0x71c0'))).toEqual({ hash: keccak256('0x71c0'), chainId: undefined });
  });

  it.each(['', '02', '02c0', '0280', 'c0', 'c180', '80', 'bf', 'c1', 'ff'.repeat(20), 'f90100', '02c101ff'])(
    'is refused if it is none: %s',
    (hex) => {
      expect(() => readEvmTransaction(Buffer.from(hex, 'hex'))).toThrow(RangeError);
    },
  );

  it('ends in a result or a RangeError for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(hashOrError(bytes)).toMatch(/^0x[0-9a-f]{64}$|^RangeError$/);
      }),
    );
  });
});
