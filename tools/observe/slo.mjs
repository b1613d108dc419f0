// The objectives, and the burn rates of their budgets. The windows are those of Google's SRE workbook,
// chapter 5. docs/objectives.md explains the numbers. The chart replaces the recorded budgets and the least
// number of failures by its values.
import { PROBLEMS } from '@svc/contracts/problems';
import { FOR_CLIENTS, MODEL, STATUS, m } from './names.mjs';

/** 5xx responses that anyone can cause and that show no failure, by objective. */
const NOT_OURS = { availability: 'X402_NOT_CONFIGURED', reads: 'TEE_SIGNATURE_FAILED' };

const orNone = (expr) => `(${expr} or vector(0))`;

/** Responses with a 4xx are the client's doing: however many there are, they must not hide failures. */
function requests(slo, method) {
  const of = (status) =>
    `${m.requests.duration}_count{${FOR_CLIENTS},http_request_method${method},${STATUS}${status}}`;
  const notOurs = `${m.requests.problems}{svc_problem="${NOT_OURS[slo]}"}`;
  return {
    failed: (over) =>
      `clamp_min(${orNone(`sum(${over(of('=~"5.."'))})`)} - ${orNone(`sum(${over(notOurs)})`)}, 0)`,
    valid: (over) => `sum(${over(of('!~"4.."'))})`,
  };
}

const orders = requests('availability', '!~"GET|HEAD|OPTIONS"');
const reads = requests('reads', '=~"GET|HEAD|OPTIONS"');
const cut = `${m.requests.endedEarly}{svc_ending="cut"}`;

/** The `error.type` of completions that failed here or at a backend; all others are the client's doing. */
const FAILED = [
  'cut',
  ...Object.entries(PROBLEMS).flatMap(([code, { status }]) => (status < 500 ? [] : code)),
].join('|');
const completions = (outcome = '') => `${m.inference.duration}_count${outcome}`;
const byModel = (expr) => `sum by (${MODEL}) (${expr})`;

/** The smallest histogram boundary that users still perceive as responsive. */
export const FIRST_TOKEN_S = '2.5';
const begun = (over) => `sum(${over(`${m.inference.firstToken}_count`)})`;
const inTime = (over) => `sum(${over(`${m.inference.firstToken}_bucket{le="${FIRST_TOKEN_S}"}`)})`;

/**
 * Each objective: the share of its events that should succeed, and how its failed and its valid events are
 * counted over a window.
 */
export const OBJECTIVES = [
  {
    slo: 'availability',
    alert: 'AvailabilityBurn',
    runbook: 'availability',
    objective: 0.999,
    what: 'completions and other orders of clients succeed',
    failed: (over) => `${orders.failed(over)} + ${orNone(`sum(${over(cut)})`)}`,
    valid: orders.valid,
  },
  {
    slo: 'reads',
    alert: 'ReadsBurn',
    runbook: 'availability',
    objective: 0.999,
    what: 'lists, balances and other reads of clients succeed',
    ...reads,
  },
  {
    slo: 'model_availability',
    alert: 'ModelAvailabilityBurn',
    runbook: 'no-healthy-backend',
    objective: 0.995,
    what: 'completions of {{ $labels.gen_ai_request_model }} succeed',
    failed: (over) =>
      `(${byModel(over(completions(`{error_type=~"${FAILED}"}`)))} or 0 * ${byModel(over(completions()))})`,
    valid: (over) => byModel(over(completions(`{error_type=~"|${FAILED}"}`))),
  },
  {
    slo: 'first_token',
    alert: 'FirstTokenBurn',
    runbook: 'first-token',
    objective: 0.95,
    what: 'streams begin in time',
    failed: (over) => `${begun(over)} - ${inTime(over)}`,
    valid: begun,
  },
];

/** Both windows must burn: the long one shows that it matters, the short one that it continues. */
export const BURNS = [
  { severity: 'critical', factor: 14.4, long: '1h', short: '5m' },
  { severity: 'critical', factor: 6, long: '6h', short: '30m' },
  { severity: 'warning', factor: 3, long: '1d', short: '2h' },
  { severity: 'warning', factor: 1, long: '3d', short: '6h' },
];

/** Fewer failures than these within the long window alert nobody: a share of a few requests says little. */
const LEAST_FAILURES = 10;

export const ratioName = (window) => `slo:error_ratio:rate${window}`;
const failuresName = (window) => `slo:failures:increase${window}`;
export const BUDGET = 'slo:error_budget:ratio';
const LEAST = 'slo:failures:least';

export const WINDOWS = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'];
const rateOver = (window) => (of) => `rate(${of}[${window}])`;
const increaseOver = (window) => (of) => `increase(${of}[${window}])`;

/** The recording rules. A ratio has no value without requests. */
export const RECORDED = [
  { record: LEAST, expr: `vector(${LEAST_FAILURES})` },
  ...OBJECTIVES.flatMap(({ slo, objective, failed, valid }) => [
    { record: BUDGET, labels: { slo }, expr: `vector(${Number((1 - objective).toPrecision(6))})` },
    ...WINDOWS.map((window) => ({
      record: ratioName(window),
      labels: { slo },
      expr: `(${failed(rateOver(window))}) / (${valid(rateOver(window))} > 0)`,
    })),
    ...BURNS.map(({ long }) => ({
      record: failuresName(long),
      labels: { slo },
      expr: failed(increaseOver(long)),
    })),
  ]),
];

/** Whether an objective's budget is spent at this multiple of the rate that would last 30 days. */
export function burns(slo, { factor, long, short }) {
  const of = `{slo="${slo}"}`;
  const spent = [long, short].map(
    (window) => `${ratioName(window)}${of} > on (slo) group_left () ${factor} * ${BUDGET}${of}`,
  );
  return `${spent.join(' and ')} and ${failuresName(long)}${of} >= on () group_left () ${LEAST}`;
}
