// The objectives, and the burn rates of their budgets. The windows are those of Google's SRE workbook,
// chapter 5.
import { FOR_CLIENTS, STATUS, m } from './names.mjs';

const all = (window) => `sum(rate(${m.requests.duration}_count{${FOR_CLIENTS}}[${window}]))`;
const failed = (window) =>
  `sum(rate(${m.requests.duration}_count{${FOR_CLIENTS},${STATUS}=~"5.."}[${window}]))`;
const cut = (window) => `sum(rate(${m.requests.endedEarly}{svc_ending="cut"}[${window}]))`;

/** The smallest histogram boundary that users still perceive as responsive. */
const FIRST_TOKEN_S = '2.5';
const begun = (window) => `sum(rate(${m.inference.firstToken}_count[${window}]))`;
const inTime = (window) => `sum(rate(${m.inference.firstToken}_bucket{le="${FIRST_TOKEN_S}"}[${window}]))`;

/**
 * Each objective: its failure ratio over a window, and the allowed ratio. The ratio has no value without
 * requests.
 */
export const OBJECTIVES = [
  {
    slo: 'availability',
    runbook: 'availability',
    budget: 0.001,
    what: 'client requests and their streams complete without an error',
    ratio: (window) =>
      `((${failed(window)} or vector(0)) + (${cut(window)} or vector(0))) / (${all(window)} > 0)`,
  },
  {
    slo: 'first_token',
    runbook: 'first-token',
    budget: 0.05,
    what: `streams begin within ${FIRST_TOKEN_S} s`,
    ratio: (window) => `1 - ${inTime(window)} / (${begun(window)} > 0)`,
  },
];

export const WINDOWS = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'];

/** Both windows must burn: the long one shows that it matters, the short one that it continues. */
export const BURNS = [
  { severity: 'critical', factor: 14.4, long: '1h', short: '5m' },
  { severity: 'critical', factor: 6, long: '6h', short: '30m' },
  { severity: 'warning', factor: 3, long: '1d', short: '2h' },
  { severity: 'warning', factor: 1, long: '3d', short: '6h' },
];

export const ratioName = (window) => `slo:error_ratio:rate${window}`;
