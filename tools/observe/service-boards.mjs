// Dashboards of the public API. `row` starts the panels that answer a question. A panel has a title, a unit,
// a description of bad values and what to do about them, and queries with legends and the sign of their
// values: `+` above zero under load, `0` zero or more, `any`; `parsed` may have none. Numbers in the
// description of bad values become thresholds; runbooks in what to do become links.
import { FOR_CLIENTS, ROUTE, STATUS, m, most, quantile, rate, total } from './names.mjs';
import { BUDGET, OBJECTIVES, ratioName } from './slo.mjs';

/** Routes that other services of the deployment call. */
const INTERNAL = `${ROUTE}=~"/internal/.+"`;

const clients = rate(`${m.requests.duration}_count`, '', FOR_CLIENTS);
const failed = rate(`${m.requests.duration}_count`, '', `${FOR_CLIENTS},${STATUS}=~"5.."`);
/** The share of an error budget that is left; below -100 % it says nothing more. */
/** How many times faster than allowed an objective's budget is spent; of all models the worst. */
const burnRate = (window, slo) =>
  `max by (slo) (${ratioName(window)}{slo="${slo}"}) / on (slo) ${BUDGET}{slo="${slo}"}`;
const budget = ({ slo }) => `clamp_min(1 - ${burnRate('3d', slo)}, -1)`;

/** By the version of the process that served them, to compare a new one with the old one. */
const byVersion = (query) =>
  `sum by (service_version) (${query} * on (job, instance) group_left(service_version) ${m.runtime.build})`;
const perProcess = (name, selector) => rate(name, 'job, instance', selector);
const count = `${m.requests.duration}_count`;

export const overview = {
  title: 'Overview',
  panels: [
    { row: 'Which alerts fire?' },
    {
      title: 'Firing alerts',
      kind: 'stat',
      unit: 'short',
      bad: 'Any.',
      todo: 'Follow the runbook that the alert links to.',
      queries: [
        [
          'count by (alertname, severity) (ALERTS{alertstate="firing",severity!="none"})',
          '{{alertname}} ({{severity}})',
          'parsed',
        ],
      ],
    },
    {
      title: 'Processes that answer, by service',
      kind: 'stat',
      unit: 'short',
      bad: 'Fewer than are deployed.',
      todo: 'Runbook service-down.',
      queries: [['sum by (job) (up)', '{{job}}', '+']],
    },
    { row: 'Are the service objectives met?' },
    ...OBJECTIVES.map((objective) => ({
      title: `Error budget left, 3 days: ${objective.slo.replaceAll('_', ' ')}`,
      kind: 'stat',
      unit: 'percentunit',
      bad: `Below 0: the objective is missed (${objective.what.replaceAll(/\{\{.*?\}\}/g, 'each model')}).`,
      todo: `Runbook ${objective.runbook}; at 0 stop releases until it recovers.`,
      queries: [[budget(objective), objective.slo, 'any']],
    })),
    {
      title: 'Burn rate',
      unit: 'suffix:×',
      bad: 'Above 1 for days, above 6 for hours, above 14 at all: the budget will not last.',
      todo: 'Find the status or model on the boards Gateway and Inference.',
      queries: OBJECTIVES.map(({ slo }) => [burnRate('5m', slo), slo, '0']),
    },
    {
      title: 'Requests by status',
      unit: 'reqps',
      bad: '5xx, even a few; 429 or 402 that increase quickly.',
      todo: 'For 5xx open Gateway, Problems by code. For 429 open Limits, for 402 Money. The accounts with the most refusals, requests, tokens or cost: `npx svcctl spenders --from DAY --until DAY --by refusals`.',
      queries: [[rate(`${m.requests.duration}_count`, STATUS, FOR_CLIENTS), `{{${STATUS}}}`, '+']],
    },
    {
      title: 'Time to first token',
      unit: 's',
      bad: 'p95 above 2.5 s.',
      todo: 'Open Inference: is it one backend, or all of them?',
      queries: [0.5, 0.95, 0.99].map((q) => [quantile(q, m.inference.firstToken), `p${q * 100}`, '+']),
    },
    { row: 'Are charges posted and audited?' },
    {
      title: 'Tokens per second',
      unit: 'suffix: tokens/s',
      bad: 'A decrease at the same number of requests.',
      todo: 'Open Inference, Tokens per second by backend.',
      queries: [[rate(`${m.inference.tokens}_sum`, 'gen_ai_token_type'), '{{gen_ai_token_type}}', '+']],
    },
    {
      title: 'Charged per hour',
      unit: 'currencyUSD',
      bad: 'A decrease at the same number of tokens: something is not charged.',
      todo: 'Open Money: settlements, ledger lag, write-offs.',
      queries: [[`${rate(m.money.charged, 'svc_currency')} * 3600`, '{{svc_currency}}', '+']],
    },
    {
      title: 'Age of the oldest unposted charge',
      kind: 'stat',
      unit: 's',
      bad: 'Above 30 s: balances and spending lag behind.',
      todo: 'Runbook ledger-lag.',
      queries: [[most(m.events.oldest, '', 'messaging_consumer_group_name="ledger"'), 'age', '0']],
    },
    {
      title: 'Time since the last successful audit',
      kind: 'stat',
      unit: 's',
      bad: 'Above 60 minutes: the audit does not run, or fails.',
      todo: 'Runbook audit-missing; if it found faults, audit-failed.',
      queries: [[`time() - max(${m.money.proved})`, 'ago', '+']],
    },
    { row: 'Is a new version as good as the old one?' },
    {
      title: 'Server errors by version',
      unit: 'percentunit',
      bad: 'A new version above the old one.',
      todo: 'Roll back: docs/operations.md.',
      queries: [
        [
          `${byVersion(perProcess(count, `${FOR_CLIENTS},${STATUS}=~"5.."`))} / ${byVersion(perProcess(count, FOR_CLIENTS))}`,
          '{{service_version}}',
          'any',
        ],
      ],
    },
    {
      title: 'Mean time to first token by version',
      unit: 's',
      bad: 'A new version above the old one at the same time.',
      todo: 'Roll back, or compare profiles of both.',
      queries: [
        [
          `${byVersion(perProcess(`${m.inference.firstToken}_sum`))} / ${byVersion(perProcess(`${m.inference.firstToken}_count`))}`,
          '{{service_version}}',
          'any',
        ],
      ],
    },
    {
      title: 'CPU by version',
      unit: 'suffix: cores',
      bad: 'A new version that needs more for the same number of requests.',
      todo: 'Compare profiles of both.',
      queries: [[byVersion(perProcess(m.runtime.cpu)), '{{service_version}}', '+']],
    },
  ],
};

export const gateway = {
  title: 'Gateway',
  panels: [
    { row: 'Are requests served?' },
    {
      title: 'Requests by route',
      unit: 'reqps',
      bad: 'A route that drops to zero.',
      todo: 'Check the status of that route, then the last deployment.',
      queries: [[rate(count, ROUTE, FOR_CLIENTS), `{{${ROUTE}}}`, '+']],
    },
    {
      title: 'Duration by route, p95',
      unit: 's',
      bad: 'An increase on routes other than chat: the service itself is slow.',
      todo: 'Open Runtime: event loop and CPU. Then PostgreSQL on Events and jobs.',
      queries: [[quantile(0.95, `${m.requests.duration}{${FOR_CLIENTS}}`, ROUTE), `{{${ROUTE}}}`, '+']],
    },
    {
      title: 'Requests with their traces, p99',
      unit: 's',
      bad: 'Dots far above the line: single requests that took long.',
      todo: 'Click a dot to open the trace of that request.',
      exemplars: true,
      queries: [[quantile(0.99, `${m.requests.duration}{${FOR_CLIENTS}}`), 'p99', '+']],
    },
    {
      title: 'Server errors',
      unit: 'percentunit',
      bad: 'Above 0.1 %.',
      todo: 'Runbook availability.',
      queries: [[`(${failed} or vector(0)) / ${clients}`, '5xx', '0']],
    },
    {
      title: 'Problems by code',
      unit: 'reqps',
      bad: 'UNKNOWN_ERROR, even once; UNAVAILABLE, MODEL_OFFLINE or INFERENCE_FAILED that increase.',
      todo: 'Search the log for the code: its line has the cause and the request id.',
      queries: [[rate(m.requests.problems, 'svc_problem'), '{{svc_problem}}', '0']],
    },
    {
      title: 'In flight',
      unit: 'short',
      bad: 'An increase without more requests: responses do not end.',
      todo: 'Compare with Inference, In flight by backend: if they differ, clients read slowly.',
      queries: [
        [total(m.requests.active), 'requests', '0'],
        [total(m.inference.streams), 'completions', '0'],
      ],
    },
    {
      title: 'Responses that ended early',
      unit: 'reqps',
      bad: '`cut`, even once: a backend broke off. Many `client_gone`: clients do not wait long enough.',
      todo: 'For `cut` open Inference, Attempts by outcome; for `client_gone` the time to first token.',
      queries: [[rate(m.requests.endedEarly, 'svc_ending'), '{{svc_ending}}', '0']],
    },
    {
      title: 'Aborting the backend after a client left, p95',
      unit: 's',
      bad: 'p95 above 1 s: backends generate output that nobody reads.',
      todo: 'Check the event loops of gateways and routers, then how long it takes to settle charges.',
      queries: [[quantile(0.95, m.inference.letGo), 'p95', 'any']],
    },
    { row: 'Do other processes respond?' },
    {
      title: 'Internal requests by route',
      unit: 'reqps',
      bad: 'A route that drops to zero while clients are served.',
      todo: 'Runbook target-down for the service of that route.',
      queries: [[rate(count, ROUTE, INTERNAL), `{{${ROUTE}}}`, 'cluster']],
    },
    {
      title: 'Calls to other services, p95',
      unit: 's',
      bad: 'An increase for one path: that service is slow.',
      todo: 'Open Runtime for that service.',
      queries: [[quantile(0.95, m.neighbours.calls, 'url_template'), '{{url_template}}', 'cluster']],
    },
    {
      title: 'Calls that failed',
      unit: 'reqps',
      bad: 'Anything but `aborted`.',
      todo: 'Find the path, and check whether Replicas taken out of rotation shows one replica or all.',
      queries: [
        [
          `${rate(`${m.neighbours.calls}_count`, 'url_template, error_type', 'error_type!=""')} or vector(0)`,
          '{{url_template}} {{error_type}}',
          '0',
        ],
      ],
    },
    {
      title: 'Replicas taken out of rotation',
      unit: 'bool_yes_no',
      bad: '1 for longer than a restart takes.',
      todo: 'Check that process: runbook target-down.',
      queries: [
        [`${most(m.neighbours.resting, 'server_address')} > 0 or vector(0)`, '{{server_address}}', '0'],
      ],
    },
    {
      title: 'Calls that wait for a connection',
      unit: 'short',
      bad: 'Above 0 for long: that service is too slow for the load.',
      todo: 'Add replicas of that service.',
      queries: [
        [
          `${total(m.neighbours.callsInFlight, 'server_address', 'svc_call_state="queued"')} > 0 or vector(0)`,
          '{{server_address}}',
          '0',
        ],
      ],
    },
  ],
};
