import { type Body, type SignedTransfer, contentOf, paying, stranger, wireOf } from './solana-payments.js';

/** The same payment with other terms. */
const termed = ({ header }: SignedTransfer, terms: Body): unknown => {
  const content = contentOf(header);
  return { ...content, accepted: { ...(content['accepted'] as Body), ...terms } };
};

/** The same payment with modified transaction bytes. */
const written = (made: SignedTransfer, change: (wire: Buffer) => Buffer | string): unknown => {
  const wire = change(wireOf(made.header));
  return paying(made, { transaction: typeof wire === 'string' ? wire : wire.toString('base64') });
};

/** Invalid transactions, and payments with other terms. */
export const HOSTILE_WIRES: readonly (readonly [string, string, (made: SignedTransfer) => unknown])[] = [
  ['of nothing', 'INVALID_PAYMENT', (made) => written(made, () => '')],
  ['of what is no base64', 'INVALID_PAYMENT', (made) => written(made, () => '!!!!')],
  [
    'of base64 with blanks',
    'INVALID_PAYMENT',
    (made) => written(made, (wire) => ` ${wire.toString('base64')} `),
  ],
  [
    'of base64 without its end',
    'INVALID_PAYMENT',
    (made) => written(made, (wire) => wire.toString('base64').slice(0, -1)),
  ],
  ['that is cut', 'INVALID_PAYMENT', (made) => written(made, (wire) => wire.subarray(0, wire.length / 2))],
  [
    'that goes on',
    'INVALID_PAYMENT',
    (made) => written(made, (wire) => Buffer.concat([wire, Buffer.alloc(8)])),
  ],
  [
    'of 1,233 bytes',
    'INVALID_PAYMENT',
    (made) => written(made, (wire) => Buffer.concat([wire, Buffer.alloc(1_233 - wire.length)])),
  ],
  ['of two thousand zeros', 'INVALID_PAYMENT', (made) => written(made, () => Buffer.alloc(2_000))],
  [
    'with a third signature',
    'INVALID_PAYMENT',
    (made) =>
      written(made, (wire) =>
        Buffer.concat([Buffer.from([3]), wire.subarray(1, 65), wire.subarray(65, 129), wire.subarray(65)]),
      ),
  ],
  [
    'with one signature',
    'INVALID_PAYMENT',
    (made) => written(made, (wire) => Buffer.concat([Buffer.from([1]), wire.subarray(65)])),
  ],
  [
    'with a count in two bytes',
    'INVALID_PAYMENT',
    (made) => written(made, (wire) => Buffer.concat([Buffer.from([0x82, 0]), wire.subarray(1)])),
  ],
  ['of version 1', 'INVALID_PAYMENT', (made) => written(made, (wire) => wire.fill(0x81, 129, 130))],
  ['of version 127', 'INVALID_PAYMENT', (made) => written(made, (wire) => wire.fill(0xff, 129, 130))],
  [
    'that the payer has not signed',
    'PAYMENT_VERIFICATION_FAILED',
    (made) => written(made, (wire) => wire.fill(0, 65, 129)),
  ],
  [
    'with an invalid signature',
    'PAYMENT_VERIFICATION_FAILED',
    (made) => written(made, (wire) => wire.fill(7, 70, 75)),
  ],
  [
    'with its signatures in the other order',
    'PAYMENT_VERIFICATION_FAILED',
    (made) =>
      written(made, (wire) =>
        Buffer.concat([
          wire.subarray(0, 1),
          wire.subarray(65, 129),
          wire.subarray(1, 65),
          wire.subarray(129),
        ]),
      ),
  ],
  [
    'with another memo than was signed',
    'PAYMENT_VERIFICATION_FAILED',
    (made) => written(made, (wire) => wire.fill('0', wire.length - 5, wire.length - 1)),
  ],
  ['of a number', 'INVALID_PAYMENT', (made) => paying(made, { transaction: 7 })],
  ['of a list', 'INVALID_PAYMENT', (made) => paying(made, { transaction: ['AAAA'] })],
  ['with nothing as its payload', 'INVALID_PAYMENT', (made) => paying(made, null)],
  [
    'with the payload of Base',
    'INVALID_PAYMENT',
    (made) => paying(made, { signature: '0x', authorization: {} }),
  ],
  [
    'for another cluster',
    'UNSUPPORTED_NETWORK',
    (made) => termed(made, { network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' }),
  ],
  ['by another scheme', 'UNSUPPORTED_SCHEME', (made) => termed(made, { scheme: 'upto' })],
  ['whose terms name another token', 'UNSUPPORTED_TOKEN', (made) => termed(made, { asset: stranger() })],
  [
    'whose terms name another receiver',
    'INVALID_PAYMENT_RECIPIENT',
    (made) => termed(made, { payTo: stranger() }),
  ],
];
