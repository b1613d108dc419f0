// Dashboards of the public API. `row` starts the panels that answer a question. A panel has a title, a unit,
// a description of bad values and what to do about them, and queries with legends and the sign of their
// values: `+` above zero under load, `0` zero or more. Numbers in the description of bad values become
// thresholds; runbooks in what to do become links.
import {
  BACKEND,
  FOR_CLIENTS,
  MODEL,
  ROUTE,
  STATUS,
  least,
  m,
  most,
  quantile,
  rate,
  rise,
  total,
} from './names.mjs';
import { mediaPanels } from './media-panels.mjs';
import { nodePanels } from './node-panels.mjs';
import { OBJECTIVES, ratioName } from './slo.mjs';

/** Probes and scrapes would dominate the panels. */
const NO_PROBE = `${ROUTE}!~"/(healthz|readyz|metrics)"`;

const clients = rate(`${m.requests.duration}_count`, '', FOR_CLIENTS);
const failed = rate(`${m.requests.duration}_count`, '', `${FOR_CLIENTS},${STATUS}=~"5.."`);
const budget = ({ slo, budget: share }) => `1 - ${ratioName('3d')}{slo="${slo}"} / ${share}`;

export const overview = {
  title: 'Overview',
  panels: [
    { row: 'Are the service objectives met?' },
    ...OBJECTIVES.map((objective) => ({
      title: `Error budget left, 3 days: ${objective.slo.replaceAll('_', ' ')}`,
      kind: 'stat',
      unit: 'percentunit',
      bad: `Below 0: the objective is missed (${objective.what}).`,
      todo: `Runbook ${objective.runbook}; at 0 stop releases until it recovers.`,
      queries: [[budget(objective), objective.slo, 'any']],
    })),
    {
      title: 'Burn rate',
      unit: 'suffix:×',
      bad: 'Above 1 for days, above 6 for hours, above 14 at all: the budget will not last.',
      todo: 'Find the status or model on the boards Gateway and Inference.',
      queries: OBJECTIVES.map(({ slo, budget: share }) => [
        `${ratioName('5m')}{slo="${slo}"} / ${share}`,
        slo,
        '0',
      ]),
    },
    {
      title: 'Requests by status',
      unit: 'reqps',
      bad: '5xx, even a few; 429 or 402 that increase quickly.',
      todo: 'For 5xx open Gateway, Problems by code. For 429 open Limits, for 402 Money.',
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
      queries: [
        [rate(m.inference.inputTokens), 'prompts', '+'],
        [rate(m.inference.outputTokens), 'output', '+'],
      ],
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
    { row: 'Which processes run?' },
    {
      title: 'Processes',
      kind: 'stat',
      unit: 'short',
      bad: 'Fewer than are deployed.',
      todo: 'Runbook target-down.',
      queries: [[`sum by (service_name) (${m.runtime.build})`, '{{service_name}}', '+']],
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
      queries: [[rate(`${m.requests.duration}_count`, ROUTE, NO_PROBE), `{{${ROUTE}}}`, '+']],
    },
    {
      title: 'Duration by route, p95',
      unit: 's',
      bad: 'An increase on routes other than chat: the service itself is slow.',
      todo: 'Open Runtime: event loop and CPU. Then PostgreSQL on Events and jobs.',
      queries: [[quantile(0.95, `${m.requests.duration}{${NO_PROBE}}`, ROUTE), `{{${ROUTE}}}`, '+']],
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
      queries: [[most(m.neighbours.resting, 'server_address'), '{{server_address}}', 'cluster']],
    },
    {
      title: 'Calls that wait for a connection',
      unit: 'short',
      bad: 'Above 0 for long: that service is too slow for the load.',
      todo: 'Add replicas of that service.',
      queries: [
        [
          total(m.neighbours.callsInFlight, 'server_address', 'svc_call_state="queued"'),
          '{{server_address}}',
          'cluster',
        ],
      ],
    },
  ],
};

export const inference = {
  title: 'Inference',
  variables: ['model', 'backend'],
  panels: [
    { row: 'How fast are the models?' },
    {
      title: 'Time to first token by model, p95',
      unit: 's',
      bad: 'Above 2.5 s.',
      todo: 'Compare its backends below; remove the slow one from the catalogue, or add one.',
      queries: [[quantile(0.95, m.inference.firstToken, MODEL), `{{${MODEL}}}`, '+']],
    },
    {
      title: 'Time to first chunk by backend, p95',
      unit: 's',
      bad: 'One backend far above the others.',
      todo: 'Check its own queue; lower its `maxInFlight` or its weight in the catalogue.',
      queries: [
        [quantile(0.95, m.router.firstChunk, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '+'],
      ],
    },
    {
      title: 'Time per output token, p95',
      unit: 's',
      bad: 'An increase with the load: the backend is at its limit.',
      todo: 'Add a backend, or lower `maxInFlight`.',
      queries: [
        [quantile(0.95, m.inference.perToken, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '+'],
      ],
    },
    {
      title: 'Tokens per second by backend',
      unit: 'suffix: tokens/s',
      bad: 'A decrease at the same number of requests.',
      todo: 'Check the backend itself.',
      queries: [[rate(m.inference.outputTokens, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '+']],
    },
    {
      title: 'Implausible token counts by backend',
      unit: 'short',
      bad: 'Any: the `usage` of this backend is implausible, so the gateway charged its own count.',
      todo: 'Compare `usage` with the text in question (log lines `implausible token counts`); fix or replace the backend.',
      queries: [
        [
          `${rise(m.inference.doubted, `${MODEL}, ${BACKEND}, svc_doubt`)} or vector(0)`,
          `{{${MODEL}}} {{${BACKEND}}} {{svc_doubt}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Whole completions, p95',
      unit: 's',
      bad: 'An increase without longer completions.',
      todo: 'Find out whether the first token or the time per token is slow.',
      queries: [[quantile(0.95, m.inference.duration, MODEL), `{{${MODEL}}}`, '+']],
    },
    { row: 'Which backends fail?' },
    {
      title: 'Completions by problem',
      unit: 'reqps',
      bad: 'MODEL_AT_CAPACITY: no backend has free capacity. MODEL_OFFLINE: none can be reached.',
      todo: 'Runbook no-healthy-backend.',
      queries: [
        [
          rate(`${m.inference.duration}_count`, `${MODEL}, error_type`, 'error_type!=""'),
          `{{${MODEL}}} {{error_type}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Attempts by outcome',
      unit: 'reqps',
      bad: '`failed` or `full` above a few percent.',
      todo: 'Test the backend by hand: runbook no-healthy-backend has the command.',
      queries: [
        [
          rate(m.router.attempts, `${BACKEND}, svc_router_outcome`),
          `{{${BACKEND}}} {{svc_router_outcome}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Error responses of backends by status',
      unit: 'reqps',
      bad: '4xx proportional to the requests: the backend rejects everything.',
      todo: 'Runbook backend-rejects.',
      queries: [
        [
          rate(m.router.errors, `${MODEL}, ${BACKEND}, ${STATUS}`),
          `{{${MODEL}}} {{${BACKEND}}} {{${STATUS}}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Retries and ejections',
      unit: 'short',
      bad: 'More than occasional ones: a backend is unstable.',
      todo: 'Remove it from the catalogue, which is read again at once, and read its log.',
      queries: [
        [`${rise(m.router.retries, MODEL)} or vector(0)`, `retries {{${MODEL}}}`, '0'],
        [
          `${rise(m.router.ejections, `${MODEL}, ${BACKEND}`)} or vector(0)`,
          `ejected {{${MODEL}}} {{${BACKEND}}}`,
          '0',
        ],
      ],
    },
    {
      title: 'Backends in rotation',
      unit: 'bool_yes_no',
      bad: '0: it gets requests only if no other backend is left.',
      todo: 'Runbook no-healthy-backend.',
      queries: [[least(m.router.up, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '0']],
    },
    { row: 'Do backends have capacity?' },
    {
      title: 'In flight by backend',
      unit: 'short',
      bad: 'At its limit for long.',
      todo: 'Add a backend, or raise `maxInFlight` if the backend has free capacity.',
      queries: [[total(m.router.inFlight, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '0']],
    },
    {
      title: 'Free capacity by backend',
      unit: 'short',
      bad: '0: requests go elsewhere, or are refused.',
      todo: 'As for In flight.',
      queries: [[total(m.router.room, `${MODEL}, ${BACKEND}`), `{{${MODEL}}} {{${BACKEND}}}`, '+']],
    },
    ...nodePanels,
    ...mediaPanels,
  ],
};
