import assert from 'node:assert/strict';
import type { Books, Transfer } from '@svc/contracts/ports';
import type { Payment } from '../src/records/payment.store.js';

const signed = ({ kind, amountNano }: Transfer): bigint => (kind === 'deposit' ? amountNano : -amountNano);

/** The sum booked for a payment. Asserts that each of its transfers is booked once. */
export async function bookedNano(books: Books, { id, reversals, accountId }: Payment): Promise<bigint> {
  const references = [id, ...Array.from({ length: reversals + 1 }, (_, at) => `${id}.${at + 2}`)];
  const transfers = await books.deposits({ references });
  const bookings = transfers.map(({ kind, reference }) => `${kind} ${reference}`);
  assert.equal(new Set(bookings).size, bookings.length, `${id} is booked once: ${bookings.join(', ')}`);
  const account = `customer:${accountId}`;
  assert(transfers.every((each) => [each.debitAccount, each.creditAccount].includes(account)));
  return transfers.reduce((sum, transfer) => sum + signed(transfer), 0n);
}
