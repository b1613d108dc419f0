// The usual implementation: each request has its own rows, in its own transaction, by Prisma's model API.

const TRANSACTION = { maxWait: 60_000, timeout: 60_000 };

/** Takes the held amount from the balance, if it is sufficient. */
export async function holdInRow(prisma, { accountId, amountNano }) {
  const { count } = await prisma.ledgerAccount.updateMany({
    where: { id: accountId, usdNano: { gte: amountNano } },
    data: { usdNano: { decrement: amountNano }, version: { increment: 1 } },
  });
  if (count !== 1) throw new Error('the balance is too small');
}

/** Writes the charge, its lines, its transfer, and returns the unused part of the hold to the balance. */
export async function chargeInRows(prisma, hold, charge) {
  const { requestId, accountId, usage, cost } = charge;
  const at = new Date(charge.at);
  await prisma.$transaction(async (tx) => {
    await tx.ledgerCharge.create({
      data: {
        requestId,
        at,
        accountId,
        keyId: charge.keyId,
        model: charge.model,
        backend: charge.backend,
        ...usage,
        usdNano: cost.usdNano,
        diemNano: 0n,
        writeOffNano: 0n,
        durationMs: charge.durationMs,
      },
    });
    await tx.ledgerChargeLine.createMany({
      data: charge.lines.map((line, index) => ({ requestId, at, line: index, ...line })),
    });
    await tx.ledgerTransfer.create({
      data: {
        at,
        accountId,
        kind: 'charge',
        debitAccount: `customer:${accountId}`,
        creditAccount: 'revenue',
        currency: 'USD',
        amountNano: cost.usdNano,
        reference: requestId,
      },
    });
    await tx.ledgerAccount.update({
      where: { id: accountId },
      data: { usdNano: { increment: hold.amountNano - cost.usdNano }, version: { increment: 1 } },
    });
  }, TRANSACTION);
}

/** Whether every balance equals its transfers, which proves that the work was done. */
export async function proveRows({ query }) {
  const [found] = await query(`
    SELECT count(*)::INT AS wrong, (SELECT count(*) FROM ledger.charges)::INT AS charges
    FROM ledger.accounts AS account
    WHERE usd_nano <> (
      SELECT sum(CASE kind WHEN 'charge' THEN -amount_nano ELSE amount_nano END)
      FROM ledger.transfers WHERE account_id = account.id
    )`);
  return { ok: found.wrong === 0, charges: found.charges };
}
