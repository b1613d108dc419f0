// Alerts about objectives whose error budget is spent too fast, in the format of `alerts.mjs`.
import { MODEL, m } from './names.mjs';
import { counter, rising } from './series.mjs';
import { BURNS, OBJECTIVES, burns, ratioName } from './slo.mjs';

/** The warnings look back for three days, in steps of twenty minutes; the pages in minutes. */
const REACH = {
  warning: { at: '4440m', steps: 225, now: 221 },
  critical: { at: '130m', steps: 160, now: 129 },
};

const request = (status, route = 'chat/completions', method = 'POST') =>
  counter(
    `${m.requests.duration}_count`,
    `http_request_method="${method}",http_route="/api/v1/${route}",http_response_status_code="${status}"`,
  );
const completion = (model, error) =>
  counter(`${m.inference.duration}_count`, `${MODEL}="${model}",error_type="${error}"`);
const problem = (code) => counter(m.requests.problems, `svc_problem="${code}"`);
const cut = counter(m.requests.endedEarly, 'svc_ending="cut"');
const begun = counter(`${m.inference.firstToken}_count`);
const inTime = counter(`${m.inference.firstToken}_bucket`, 'le="2.5"');

/** Each case: how much each series rises in a step; or, as `once`, in the last one only. */
const CASES = {
  availability: {
    fires: [
      [request(200), 80],
      [request(503), 20],
    ],
    quiet: [
      [request(200), 99_999],
      [request(503), 1],
    ],
    alsoFires: {
      'in a flood of refused requests': [
        [request(200), 100],
        [request(503), 20],
        [request(401), 100_000],
        [request(429), 100_000],
      ],
      'in a flood of cheap reads': [
        [request(200), 100],
        [request(503), 20],
        [request(200, 'models', 'GET'), 100_000],
      ],
      'when streams break off': [
        [request(200), 100],
        [cut, 20],
      ],
    },
    alsoQuiet: {
      'after one failure in a quiet hour': { once: [request(503), request(200)] },
      'when strangers ask for what this deployment does not have': [
        [request(200), 100],
        [request(503, 'x402/top-up'), 100],
        [problem('X402_NOT_CONFIGURED'), 100],
      ],
    },
  },
  reads: {
    fires: [
      [request(200, 'models', 'GET'), 80],
      [request(500, 'models', 'GET'), 20],
    ],
    quiet: [
      [request(200, 'models', 'GET'), 100],
      [request(503), 100],
    ],
  },
  model_availability: {
    fires: [
      [completion('small', ''), 80],
      [completion('small', 'MODEL_OFFLINE'), 20],
      [completion('busy', ''), 100_000],
    ],
    quiet: [
      [completion('small', ''), 10_000],
      [completion('small', 'MODEL_OFFLINE'), 1],
    ],
    alsoQuiet: {
      'when clients send requests that it refuses': [
        [completion('small', ''), 10],
        [completion('small', 'INVALID_REQUEST'), 100],
        [completion('small', 'client_gone'), 100],
      ],
      'after one failure in a quiet hour': { once: [completion('small', 'MODEL_OFFLINE')] },
    },
  },
  first_token: {
    fires: [
      [begun, 100],
      [inTime, 10],
    ],
    quiet: [
      [begun, 100],
      [inTime, 99],
    ],
  },
};

function seriesOf(given, { steps, now }) {
  if (given.once) return given.once.map((series) => [series, `0x${now - 1} 1x${steps - now}`]);
  return given.map(([series, step]) => rising(series, step, steps));
}

/** Further cases are tried for one window of each objective: the tests of all windows take minutes. */
function testsOf(slo, { severity, long }) {
  const { fires, quiet, alsoFires = {}, alsoQuiet = {} } = CASES[slo];
  const reach = REACH[severity];
  const also = (cases) =>
    long === '1h' ? Object.entries(cases).map(([what, given]) => [what, seriesOf(given, reach)]) : [];
  return {
    fires: seriesOf(fires, reach),
    quiet: seriesOf(quiet, reach),
    alsoFires: also(alsoFires),
    alsoQuiet: also(alsoQuiet),
    at: reach.at,
  };
}

export const burnAlerts = OBJECTIVES.flatMap(({ slo, alert, what, runbook }) =>
  BURNS.map((burn) => ({
    name: alert,
    severity: burn.severity,
    labels: { slo, window: burn.long },
    expr: burns(slo, burn),
    dataExpr: `${ratioName(burn.long)}{slo="${slo}"}`,
    summary: `Too few ${what}: over ${burn.long}, the 30-day error budget was spent at ${burn.factor} times the allowed rate.`,
    runbook,
    ...testsOf(slo, burn),
  })),
);
