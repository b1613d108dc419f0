import { LocalSolana } from '@svc/infra';
import { type RunningLedger, startLedger } from '@svc/ledger/testing';
import { type TestDatabase, startTestDatabase } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FeePayer } from '../src/solana/fee-payer.js';
import { PaymentProcess } from './payment-process.js';
import { PaymentTimes } from './payment-times.js';
import { SolanaHarness, keyPair } from './solana-harness.js';

const fault = await LocalSolana.fault();
if (fault !== undefined) process.emitWarning(`Rotations of keys on Solana are not tested. ${fault}`);

let database: TestDatabase;
let ledger: RunningLedger;
let harness: SolanaHarness;
let times: PaymentTimes;

const startProcess = (): PaymentProcess =>
  new PaymentProcess({
    database: ledger.database,
    books: ledger.books,
    areBooksThere: () => true,
    railOf: harness.railOf('confirmed'),
  });

/** The state of a payment after its process had time for it. */
async function stateOf(service: PaymentProcess, header: string): Promise<string | undefined> {
  const { paymentId } = await service.payments.topUp(header);
  await times.pass(1);
  await service.goOn();
  return (await times.byId(paymentId))?.state;
}

beforeAll(async () => {
  if (fault !== undefined) return;
  database = await startTestDatabase();
  ledger = await startLedger({ url: database.url });
  harness = await SolanaHarness.start();
  harness.chain.commitment = 'confirmed';
  times = new PaymentTimes(ledger.database);
});
afterAll(async () => {
  harness?.stop();
  await ledger?.stop();
  await database?.stop();
});

describe.skipIf(fault !== undefined)('during rotation of the signer key', () => {
  it('credits payments that name either fee payer, and rejects the old one once its key is removed', async () => {
    const [early, late] = [await harness.payer(), await harness.payer()];
    const offeredBefore = await Promise.all([early, late].map((payer) => harness.headerOf(payer, 5)));
    const another = keyPair();
    harness.chain.fund(another.address);
    harness.feePayer = new FeePayer(another.text, harness.feePayer);
    const both = startProcess();
    expect(await stateOf(both, offeredBefore[0] ?? '')).toBe('CREDITED');
    expect(await stateOf(both, await harness.headerOf(early, 5))).toBe('CREDITED');

    harness.feePayer = new FeePayer(another.text);
    await expect(startProcess().payments.topUp(offeredBefore[1] ?? '')).rejects.toMatchObject({
      message: expect.stringContaining(`the fee payer must be ${another.address}`) as string,
    });
  });
});

describe('a signer key', () => {
  const [first, second, third] = [keyPair(), keyPair(), keyPair()];

  it.each([
    ['arrays', `${first.text}\n${second.text}\n`],
    [
      'arrays over several lines',
      `${first.text.replaceAll(',', ', ')} ${second.text.replaceAll(',', ',\n')}`,
    ],
  ])('may be followed by a second one, as %s', (_form, text) => {
    expect(FeePayer.of(text).addresses).toEqual([first.address, second.address]);
  });

  it('may be followed by at most one other, and an error does not reveal it', () => {
    expect(() => FeePayer.of(first.text + second.text + third.text)).toThrow(/^there may be two signer keys/);
    for (const text of [`${first.text}[1]`, first.text.slice(0, -1), ''])
      expect(() => FeePayer.of(text)).toThrow(
        /^the signer key must be 64 numbers in JSON, or 64 bytes in base58$/,
      );
  });
});
