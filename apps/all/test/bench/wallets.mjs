// The cost of a wallet's sign-in, with our code and with the library's own in turn, and how long it blocks
// the event loop.
import { writeFileSync } from 'node:fs';
import { Signatures, readSignIn } from '@svc/identity/testing';
import { parseSIWxHeader, validateSIWxMessage, verifySIWxSignature } from '@x402/extensions/sign-in-with-x';
import { challengeOf, evmWallet, solanaWallet } from '../wallets.ts';
import { counts, readCommandLine } from './command-line.mjs';
import { describeMachine } from './machine.mjs';

const USAGE = `Usage: npm run bench:wallets -- [options]

  --rounds N     interleaved rounds, whose medians are printed (5)
  --sign-ins N   sign-ins of a round, and at once where the event loop is watched (200)
  --json FILE    write the figures to FILE as well
`;

const USUAL = { rounds: 5, 'sign-ins': 200 };
const MOST = { rounds: 99, 'sign-ins': 400 };

/** Maximum time that a verification may block the event loop. */
const TURN_MOST_MS = 2;

const ORIGIN = 'https://api.example.com';

/** Exits with a usage message if the settings are invalid. */
const readOptions = () =>
  readCommandLine(
    USAGE,
    { rounds: { type: 'string' }, 'sign-ins': { type: 'string' }, json: { type: 'string' } },
    (values) => {
      const { rounds, 'sign-ins': signIns } = counts(values, { usual: USUAL, most: MOST });
      return { rounds, signIns, json: values.json };
    },
  );

/** Headers of this number of wallets. */
async function headersOf(newWallet, length) {
  const headers = [];
  while (headers.length < length) headers.push(await newWallet().signIn(challengeOf(ORIGIN)));
  return headers;
}

/** Like the service, except for the nonce, which is one insert. No chain is configured. */
function oursWith(signatures) {
  return async (header) => {
    const signIn = readSignIn(header);
    const signer = await signatures.signer(signIn);
    if (signer.toLowerCase() !== signIn.message.address.toLowerCase()) throw new Error('another one signed');
  };
}

/** Like the library's examples, also without nonces. */
async function theirs(header) {
  const payload = parseSIWxHeader(header);
  const valid = await validateSIWxMessage(payload, new URL(ORIGIN));
  const verified = valid.isValid ? await verifySIWxSignature(payload) : valid;
  if (!verified.isValid) throw new Error(`the library refuses it: ${verified.invalidMessage}`);
}

/** Microseconds of CPU per sign-in, including its threads. */
async function cpuOf(verify, headers) {
  const before = process.cpuUsage();
  await Promise.all(headers.map(verify));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / headers.length;
}

/**
 * The longest turn of the event loop, in ms, if each header arrives in a separate turn and all are in
 * progress at once.
 */
async function longestTurn(verify, headers) {
  let running = true;
  let longestMs = 0;
  let before = performance.now();
  const look = () => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - before);
    before = now;
    if (running) setImmediate(look);
  };
  setImmediate(look);
  const underWay = [];
  for (const header of headers) {
    underWay.push(verify(header));
    await new Promise(setImmediate);
  }
  await Promise.all(underWay);
  await new Promise(setImmediate);
  running = false;
  return longestMs;
}

async function measure({ rounds, signIns }, verify) {
  const headers = {
    EVM: await headersOf(evmWallet, signIns),
    Solana: await headersOf(solanaWallet, signIns),
  };
  const ways = Object.keys(headers).flatMap((chain) =>
    Object.entries(verify).map(([by, way]) => ({ chain, by, way, cpuMicros: [], turns: [] })),
  );
  const idle = [];
  // The first round is the warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    console.error(`… round ${round} of ${rounds}`);
    for (const each of ways) {
      const micros = await cpuOf(each.way, headers[each.chain]);
      const turn = await longestTurn(each.way, headers[each.chain]);
      if (round === 0) continue;
      each.cpuMicros.push(micros);
      each.turns.push(turn);
    }
    if (round > 0) idle.push(await longestTurn(() => Promise.resolve(), headers.EVM));
  }
  return { idle: turnOf(idle), rows: ways.map(rowOf) };
}

function rowOf({ chain, by, cpuMicros, turns }) {
  const micros = median(cpuMicros);
  return { chain, by, cpuMicros: micros, perSecondPerCore: 1e6 / micros, ...turnOf(turns) };
}

/** Other processes can only make a turn longer, so the calmest round is the most accurate. */
const turnOf = (turns) => ({ turnMs: median(turns), calmestTurnMs: Math.min(...turns) });

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

function show(row) {
  return {
    chain: row.chain,
    by: row.by,
    'CPU of one (us)': Math.round(row.cpuMicros),
    'sign-ins/s of a core': Math.round(row.perSecondPerCore),
    'longest turn (ms)': Number(row.turnMs.toFixed(2)),
    'in the calmest round (ms)': Number(row.calmestTurnMs.toFixed(2)),
  };
}

const options = readOptions();
const machine = await describeMachine();
const signatures = new Signatures({ hasSigned: () => Promise.resolve(false) });
const { idle, rows } = await measure(options, { ours: oursWith(signatures), 'the library': theirs });
console.log(
  `${machine.cores} cores, ${machine.cpu}, Node ${machine.node}; busy with other work: ${Math.round(machine.otherWork * 100)} %`,
);
console.table(rows.map(show));
console.log(
  `Turns of nothing, beside them: ${idle.turnMs.toFixed(2)} ms, and ${idle.calmestTurnMs.toFixed(2)} ms in the calmest round.`,
);
for (const { chain, by, calmestTurnMs } of rows)
  if (by === 'ours')
    console.log(
      `${chain}: a turn of ours takes at most ${calmestTurnMs.toFixed(2)} ms, of ${TURN_MOST_MS} ms: ${calmestTurnMs <= TURN_MOST_MS ? 'ok' : 'MISSED'}`,
    );
if (options.json) writeFileSync(options.json, JSON.stringify({ machine, idle, rows }, undefined, 2));
