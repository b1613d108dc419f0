import { type Books, DEPOSITS_AT_ONCE, type Transfer } from '@svc/contracts/ports';
import type { PaymentAuditStore, AuditedPayment } from './audit.store.js';
import type { AuditFindings } from './findings.js';

const NANO_PER_UNIT = 1_000n;

/** Payments looked up in the books at once; each may have several credits. */
const PAYMENTS_AT_ONCE = 100;

interface BooksAuditParts {
  readonly rail: string;
  readonly network: string;
  readonly store: PaymentAuditStore;
  readonly books: Books;
}

/**
 * Checks that each deposit and reversal after `after` belongs to a payment, with its amount and account.
 * Returns the last id.
 */
export async function auditTransfers(
  { rail, network, store, books }: BooksAuditParts,
  after: bigint,
  findings: AuditFindings,
): Promise<bigint> {
  let last = after;
  for (;;) {
    const page = await books.deposits({ after: last, limit: DEPOSITS_AT_ONCE });
    const ours = page.filter(({ debitAccount, creditAccount }) =>
      [debitAccount, creditAccount].includes(`deposits:${rail}`),
    );
    const ids = new Set(ours.map(({ reference }) => partsOf(reference).id));
    const payments = new Map((await store.byIds([...ids])).map((payment) => [payment.id, payment]));
    for (const transfer of ours) {
      findings.transfers += 1;
      findings.booksNano += transfer.kind === 'deposit' ? transfer.amountNano : -transfer.amountNano;
      const fault = faultOf(transfer, payments.get(partsOf(transfer.reference).id), network);
      if (fault !== undefined) findings.wrong(`The ${transfer.kind} ${transfer.reference} ${fault}.`);
    }
    last = page.at(-1)?.id ?? last;
    if (page.length < DEPOSITS_AT_ONCE) return last;
  }
}

function faultOf(
  { kind, reference, amountNano, debitAccount, creditAccount }: Transfer,
  payment: AuditedPayment | undefined,
  network: string,
): string | undefined {
  if (!payment || payment.network !== network) return 'belongs to no payment of this rail';
  const account = `customer:${payment.accountId}`;
  if ((kind === 'deposit' ? creditAccount : debitAccount) !== account)
    return 'is of another account than its payment';
  if (amountNano !== payment.units * NANO_PER_UNIT)
    return `is ${amountNano} nano-USD, and its payment ${payment.units} millionths`;
  const { round } = partsOf(reference);
  const { state, reversals } = payment;
  // Changes are written to the books first, and to the payment next.
  const mayBeAhead =
    kind === 'deposit' ? state === 'CREDITED' || state === 'CONFIRMED' : state === 'REVERSING';
  const isKnown = round <= reversals || (round === reversals + 1 && (mayBeAhead || state === 'REVERSING'));
  return isKnown ? undefined : `is not what its payment says, which is ${state} after ${reversals} reversals`;
}

/** Checks that each payment that is or was credited has exactly its deposits and reversals in the books. */
export async function auditPayments(
  { network, store, books }: BooksAuditParts,
  since: Date | undefined,
  findings: AuditFindings,
): Promise<void> {
  let after = 0n;
  for (;;) {
    const page = await store.booked(network, { after, limit: PAYMENTS_AT_ONCE, ...(since && { since }) });
    const wanted = page.flatMap((payment) =>
      Array.from({ length: roundsOf(payment) }, (_, at) => referenceOf(payment, at + 1)),
    );
    const found = new Map<string, Transfer[]>();
    for (let at = 0; at < wanted.length; at += DEPOSITS_AT_ONCE) {
      const transfers = await books.deposits({ references: wanted.slice(at, at + DEPOSITS_AT_ONCE) });
      for (const transfer of transfers)
        found.set(transfer.reference, [...(found.get(transfer.reference) ?? []), transfer]);
    }
    for (const payment of page) {
      for (let round = 1; round <= roundsOf(payment); round += 1) {
        const reference = referenceOf(payment, round);
        const kinds = (found.get(reference) ?? []).map(({ kind }) => kind).join(', ');
        const isBack = round <= payment.reversals;
        if (kinds !== (isBack ? 'deposit, reversal' : 'deposit'))
          findings.wrong(
            `Payment ${reference} is ${isBack ? 'taken back' : 'credited'}, and the books have of it: ${kinds || 'nothing'}.`,
          );
      }
    }
    after = page.at(-1)?.number ?? after;
    if (page.length < PAYMENTS_AT_ONCE) return;
  }
}

const roundsOf = ({ state, reversals }: AuditedPayment): number => reversals + (state === 'CREDITED' ? 1 : 0);

const referenceOf = ({ id }: AuditedPayment, round: number): string => (round === 1 ? id : `${id}.${round}`);

function partsOf(reference: string): { id: string; round: number } {
  const [id = reference, round = '1'] = reference.split('.');
  return { id, round: Number(round) };
}
