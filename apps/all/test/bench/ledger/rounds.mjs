// The load for the ledger and its rival, and the measurements.
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMeter } from './cpu.mjs';
import { chargeInRows, holdInRow } from './rows.mjs';
import { chargeOf, nextHold } from './workload.mjs';

/** More concurrent requests would only wait for one of its connections. */
const ROWS_CONCURRENCY = 64;
const POSTING_BATCH = 500;
/** The interval of the open loop's timer. */
const TICK_MS = 1;
/** Maximum number of open requests of the open loop; further ones are dropped and reported. */
const MOST_UNDER_WAY = 1_000;

/** The ledger: a hold, its charge durable in the event log, and at the end all posted. */
export async function loadLedger({ ledger, drained }, { pickAccount, seconds, concurrency, postgresPid }) {
  const settleMs = [];
  const ask = async () => {
    const hold = await ledger.hold(nextHold(pickAccount));
    const fromMs = performance.now();
    await ledger.settle(hold, chargeOf(hold));
    settleMs.push(performance.now() - fromMs);
  };
  return measure({ ask, seconds, concurrency, drained, postgresPid, latencies: { settleMs } });
}

/** The rival: a hold and a charge, each in separate rows. */
export async function loadRows({ prisma }, { pickAccount, seconds, postgresPid }) {
  const settleMs = [];
  const ask = async () => {
    const hold = nextHold(pickAccount);
    await holdInRow(prisma, hold);
    const fromMs = performance.now();
    await chargeInRows(prisma, hold, chargeOf(hold));
    settleMs.push(performance.now() - fromMs);
  };
  return measure({ ask, seconds, concurrency: ROWS_CONCURRENCY, postgresPid, latencies: { settleMs } });
}

/** A closed loop with this concurrency, and the cost of its charges until all are posted. */
async function measure({ ask, seconds, concurrency, drained, postgresPid, latencies }) {
  const cpu = cpuMeter(postgresPid);
  const fromMs = performance.now();
  const untilMs = fromMs + seconds * 1_000;
  let charges = 0;
  const loop = async () => {
    while (performance.now() < untilMs) {
      await ask();
      charges += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  const loadedMs = performance.now() - fromMs;
  await drained?.();
  const tookMs = performance.now() - fromMs;
  return {
    charges,
    perSecond: (charges * 1_000) / tookMs,
    drainMs: tookMs - loadedMs,
    ...cpu(charges),
    ...percentilesOf(latencies),
  };
}

/** Posting only: prepared batches of charges, one after the other like the consumer. */
export async function loadPosting({ poster }, { pickAccount, seconds, postgresPid }) {
  const batches = Array.from({ length: 20 * seconds }, () =>
    Array.from({ length: POSTING_BATCH }, () => chargeOf(nextHold(pickAccount))),
  );
  const batchMs = [];
  const cpu = cpuMeter(postgresPid);
  const fromMs = performance.now();
  for (const batch of batches) {
    const beganMs = performance.now();
    await poster.post(batch);
    batchMs.push(performance.now() - beganMs);
  }
  const charges = batches.length * POSTING_BATCH;
  const perSecond = (charges * 1_000) / (performance.now() - fromMs);
  return { charges, perSecond, ...cpu(charges), ...percentilesOf({ batchMs }) };
}

/**
 * Holds at a fixed rate, each followed by its charge, whether or not earlier ones are done. The time of a
 * hold counts from when it was due, so that a process that is busy with something else does not look quick.
 */
export async function paceHolds({ hold, charge, drained }, { perSecond, seconds }) {
  const holdMs = [];
  const underWay = new Set();
  let leftOut = 0;
  const ask = async (dueMs) => {
    const held = await hold();
    holdMs.push(performance.now() - dueMs);
    await charge(held);
  };
  const fromMs = performance.now();
  const total = perSecond * seconds;
  for (let sent = 0; sent < total;) {
    const now = performance.now();
    for (; sent < total; sent += 1) {
      const dueMs = fromMs + (sent * 1_000) / perSecond;
      if (dueMs > now) break;
      if (underWay.size >= MOST_UNDER_WAY) {
        leftOut += 1;
        continue;
      }
      const request = ask(dueMs).finally(() => underWay.delete(request));
      underWay.add(request);
    }
    await sleep(TICK_MS);
  }
  await Promise.all(underWay);
  const tookMs = performance.now() - fromMs;
  await drained?.();
  return { perSecond: (holdMs.length * 1_000) / tookMs, leftOut, ...percentilesOf({ holdMs }) };
}

/** How the ledger holds and charges one request, for `paceHolds`. */
export function stepsOfLedger({ ledger, drained }, pickAccount) {
  return {
    hold: () => ledger.hold(nextHold(pickAccount)),
    charge: (hold) => ledger.settle(hold, chargeOf(hold)),
    drained,
  };
}

/** The same for its rival. */
export function stepsOfRows({ prisma }, pickAccount) {
  return {
    hold: async () => {
      const hold = nextHold(pickAccount);
      await holdInRow(prisma, hold);
      return hold;
    },
    charge: (hold) => chargeInRows(prisma, hold, chargeOf(hold)),
  };
}

function percentilesOf(latencies) {
  return Object.fromEntries(
    Object.entries(latencies).map(([name, times]) => {
      const sorted = Float64Array.from(times).sort();
      const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
      return [name, { p50: at(0.5), p99: at(0.99), most: sorted.at(-1) }];
    }),
  );
}
