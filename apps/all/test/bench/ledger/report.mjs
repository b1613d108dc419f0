// The report of the ledger's bench.

/** The ledger's targets on two cores. */
const TARGETS = { chargesPerSecond: 15_000, holdP99Ms: 5 };

/** If other work takes more of the machine than this, the figures are unreliable. */
const CALM_SHARE = 0.1;

/** The machine and the versions. */
export function headText({ machine, options }) {
  const { cores, cpu, node, otherWork } = machine;
  const { seconds, rounds, accounts, concurrency } = options;
  return [
    `Machine  ${cores} cores, ${cpu}, Node ${node}; load, ledger and PostgreSQL share them`,
    `Load     ${concurrency} requests at once, ${accounts} accounts, ${rounds} rounds of ${seconds} s in turn; medians`,
    ...(otherWork > CALM_SHARE ? [`Note     other work takes ${percent(otherWork)} of this machine`] : []),
  ].join('\n');
}

/** Charges/s of each competitor, and the cost of a charge. */
export function postText(posts) {
  const rows = posts.map(({ name, spread, median }) => [
    name,
    spread,
    fixed(median.perSecond, 0),
    fixed(median.nodeMicros, 0),
    fixed(median.postgresMicros, 0),
    fixed((median.settleMs ?? median.batchMs).p50, 1),
    fixed((median.settleMs ?? median.batchMs).p99, 1),
  ]);
  const head = ['', '', 'charges/s', 'CPU us/charge', 'in PostgreSQL', 'p50 ms', 'p99 ms'];
  return [
    ...table(head, rows),
    '  The times are those of a settle under full load, and of a batch of 500 where posting is alone.',
  ].join('\n');
}

/** How the ledger compares with its rival, and with its targets. */
export function ratioText(posts) {
  return posts
    .filter(({ part }) => part === 'ledger')
    .map(({ spread, median: { perSecond } }) => {
      const rival = posts.find((post) => post.part === 'rows' && post.spread === spread);
      const times = rival ? `${fixed(perSecond / rival.median.perSecond, 1)} times Prisma row by row; ` : '';
      const word = perSecond >= TARGETS.chargesPerSecond ? 'ok' : 'BELOW TARGET';
      return `  ${spread.padEnd(16)}  ${times}target >= ${fixed(TARGETS.chargesPerSecond, 0)} charges/s: ${word}`;
    })
    .join('\n');
}

/** Holds at a fixed rate on one hot account. */
export function holdText(holds) {
  const rows = holds.map(({ name, perSecond, holdMs, leftOut }) => [
    name,
    fixed(perSecond, 0),
    fixed(holdMs.p50, 2),
    fixed(holdMs.p99, 2),
    fixed(holdMs.most, 1),
    String(leftOut),
  ]);
  const target = holds.find(({ isTarget }) => isTarget);
  const word = target.holdMs.p99 < TARGETS.holdP99Ms ? 'ok' : 'ABOVE TARGET';
  return [
    'Holds on one hot account, each charged and posted; from when each was due',
    ...table(['', 'holds/s', 'p50 ms', 'p99 ms', 'most ms', 'left out'], rows),
    `  p99 of the ledger: target < ${TARGETS.holdP99Ms} ms: ${word}`,
  ].join('\n');
}

/** Whether the money is correct: the ledger by its audit, its rival by its balances. */
export function moneyText({ audit, rows }) {
  const faults = audit.mismatches.slice(0, 5).join('; ');
  return [
    'Money',
    `  ledger  audit ${audit.ok ? 'ok' : `WRONG: ${faults}`}, ${fixed(audit.charges, 0)} charges`,
    `  Prisma  balances ${rows.ok ? 'ok' : 'WRONG'}, ${fixed(rows.charges, 0)} charges`,
  ].join('\n');
}

function table(head, rows) {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column].length)),
  );
  const isText = (column) => head[column] === '';
  return [head, ...rows].map((row) => {
    const cells = row.map((cell, column) =>
      isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]),
    );
    return `  ${cells.join('  ')}`;
  });
}

function fixed(number, digits) {
  if (number === undefined || Number.isNaN(number)) return '-';
  return number.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}
