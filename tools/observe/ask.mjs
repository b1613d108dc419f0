// Runs every query of every panel, ratio and alert on a Prometheus, and reports those without data or with
// values of the wrong sign: `node tools/observe/ask.mjs URL all|cluster`. Retries for up to a minute, because
// data may arrive late. Alerts are queried for the values that they compare, whether they fire or not. Needs
// the build.
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { readFileSync, readdirSync } from 'node:fs';
import { ALERTS } from './alerts.mjs';
import { DEPLOYMENTS, asShown, matchersOfBoard } from './board-scope.mjs';
import { BOARDS, panelsOf } from './boards.mjs';
import { scoped, scopedToRelease } from './scope.mjs';
import { OBJECTIVES, WINDOWS, ratioName } from './slo.mjs';

const RUNBOOKS = new URL('../../deploy/runbooks/', import.meta.url);
const AGAIN_MS = 2_000;
const DEADLINE_MS = 90_000;

/** Whether a query with this expected sign may have this value. */
const FITS = {
  '+': (value) => value > 0,
  0: (value) => value >= 0,
  cluster: (value) => value >= 0 || Number.isNaN(value),
  any: () => true,
};

/** With comparisons replaced by numbers, so that the query has a value even if the alert does not fire. */
const asNumber = (expr) => expr.replaceAll(/ (>=|>|<|==) (?=[\d.])/g, ' $1 bool ');

/** Queries in runbooks must be valid PromQL; whether they have data depends on past events. */
function ofRunbooks() {
  return readdirSync(RUNBOOKS).flatMap((name) =>
    Array.from(readFileSync(new URL(name, RUNBOOKS), 'utf8').matchAll(/\bask '([^']+)'/g), ([, expr]) => ({
      what: `runbook ${name}`,
      expr,
      sign: 'parsed',
    })),
  );
}

function queries() {
  const ofBoards = Object.entries(BOARDS).flatMap(([name, board]) =>
    panelsOf(board).flatMap(({ title, queries: of }) =>
      of.map(([expr, , sign]) => ({
        what: `${name}: ${title}`,
        expr: asShown(scoped(expr, matchersOfBoard(board))),
        sign,
      })),
    ),
  );
  const ofRatios = OBJECTIVES.flatMap(({ slo }) =>
    WINDOWS.map((window) => ({
      what: `${slo} over ${window}`,
      expr: scopedToRelease(`${ratioName(window)}{slo="${slo}"}`),
      sign: '0',
    })),
  );
  const ofAlerts = ALERTS.map(({ name, expr, dataExpr = expr, needs = '0' }) => ({
    what: `alert ${name}`,
    expr: scopedToRelease(asNumber(dataExpr)),
    sign: needs,
  }));
  const deployments = { what: 'deployments', expr: asShown(DEPLOYMENTS), sign: 'parsed' };
  return [...ofBoards, deployments, ...ofRatios, ...ofAlerts, ...ofRunbooks()];
}

async function faultOf(url, { what, expr, sign }) {
  const response = await fetch(`${url}/api/v1/query?${new URLSearchParams({ query: expr })}`, {
    signal: AbortSignal.timeout(30_000),
  });
  const { status, error, data } = await response.json();
  if (status !== 'success') return `${what}: ${error}: ${expr}`;
  if (sign === 'parsed') return undefined;
  const values = data.result.map(({ value }) => Number(value[1]));
  if (values.length === 0) return `${what}: no data: ${expr}`;
  const wrong = values.filter((value) => !FITS[sign](value));
  // Some of the series may not have changed yet.
  const isWrong = sign === '+' ? wrong.length === values.length : wrong.some((value) => !Number.isNaN(value));
  return isWrong || values.every((value) => Number.isNaN(value) && sign !== 'any')
    ? `${what}: has ${values.slice(0, 5).join(', ')}: ${expr}`
    : undefined;
}

/**
 * The queries without data or with wrong values, after all retries. A query that was right is not run again:
 * on a busy machine a scrape may fail at any time.
 */
export async function faultyQueries(url, shape) {
  const asked = queries().filter(({ sign }) => shape === 'cluster' || sign !== 'cluster');
  const deadline = Date.now() + DEADLINE_MS;
  let left = asked;
  for (;;) {
    const found = await Promise.all(left.map(async (query) => ({ query, fault: await faultOf(url, query) })));
    const faulty = found.filter(({ fault }) => fault !== undefined);
    if (faulty.length === 0 || Date.now() > deadline)
      return { asked: asked.length, faults: faulty.map(({ fault }) => fault) };
    left = faulty.map(({ query }) => query);
    await sleep(AGAIN_MS);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { asked, faults } = await faultyQueries(process.argv[2], process.argv[3] ?? 'all');
  for (const fault of faults) console.log(fault);
  console.log(`${asked} queries, ${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
