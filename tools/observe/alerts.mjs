// The alerts, each with its description, runbook, and series under which it fires or stays quiet. The rules
// and their tests for promtool are generated from this list. `critical` wakes the person on call; `warning`
// can wait until the morning; `none` is for machines. An alert without `quiet` always fires. Queries are
// limited to one deployment when the rules are generated. `dataExpr` replaces the query in the check for data
// if its comparisons can't be turned into numbers; `needs: 'cluster'` marks alerts whose metrics `all` does
// not have. Series are in promtool's notation: `value+step x times`, one value a minute.
import { BACKEND, GROUP, MODEL, STATUS, TOPIC, m } from './names.mjs';
import { unproved, unprovedSeries } from './audit-alerts.mjs';
import { backendAlerts } from './backend-alerts.mjs';
import { batchAlerts } from './batch-alerts.mjs';
import { burnAlerts } from './burn-alerts.mjs';
import { fileAlerts } from './file-alerts.mjs';
import { mediaAlerts } from './media-alerts.mjs';
import { paymentAlerts } from './payment-alerts.mjs';
import { presenceAlerts } from './presence-alerts.mjs';
import { supplyAlerts } from './supply-alerts.mjs';
import { waitingAlerts } from './waiting-alerts.mjs';
import { counter, flat, rising, risen, risenAt } from './series.mjs';

const USAGE = `${TOPIC}="usage.recorded.v1",${GROUP}="ledger"`;

const moneyAlerts = [
  {
    name: 'AuditFailed',
    severity: 'critical',
    expr: unproved(m.money),
    dataExpr: `max(${m.money.proved})`,
    summary: 'The {{ $labels.svc_audit_scope }} audit found faults in the books.',
    runbook: 'audit-failed',
    ...unprovedSeries(m.money, [
      // Charges that wait to be posted are not a fault.
      flat(counter(m.events.oldest, USAGE), 400),
    ]),
  },
  {
    name: 'AuditMissing',
    severity: 'critical',
    // A restarted process has no time of the last audit.
    expr: `time() - max(max_over_time(${m.money.proved}[3h])) > 7200 or absent_over_time(${m.money.proved}[3h])`,
    for: '10m',
    summary: 'No audit has proved the books for two hours.',
    runbook: 'audit-missing',
    fires: [flat(counter(m.money.proved, 'svc_audit_scope="new"'), 0)],
    quiet: [rising(counter(m.money.proved, 'svc_audit_scope="new"'), 60)],
    alsoFires: [['where no process reports an audit', []]],
    alsoQuiet: [
      [
        'where the process that proved them is gone',
        [[counter(m.money.proved, 'svc_audit_scope="new"'), '0+60x100 stale']],
      ],
    ],
    at: '150m',
  },
  {
    name: 'WriteOffs',
    severity: 'warning',
    expr: `sum(increase(${m.money.writtenOff}[1h])) / (sum(increase(${m.money.charged}[1h])) > 0) > 0.01`,
    for: '5m',
    summary: '{{ $value | humanizePercentage }} of the output delivered in an hour was not paid.',
    runbook: 'write-offs',
    fires: [
      rising(counter(m.money.writtenOff, 'svc_step="posting"'), 0.1),
      rising(counter(m.money.charged, 'svc_currency="USD"'), 1),
    ],
    quiet: [
      rising(counter(m.money.writtenOff, 'svc_step="posting"'), 0.001),
      rising(counter(m.money.charged, 'svc_currency="USD"'), 1),
    ],
  },
  {
    name: 'ChargesRefused',
    severity: 'critical',
    expr: `sum(increase(${m.money.settlements}{svc_ledger_way="refused"}[15m])) > 0`,
    summary:
      'Completions could not be charged: neither the event log, the books nor the journal accepted the charge.',
    runbook: 'charges-refused',
    fires: [rising(counter(m.money.settlements, 'svc_ledger_way="refused"'), 1)],
    quiet: [
      flat(counter(m.money.settlements, 'svc_ledger_way="refused"'), 0),
      rising(counter(m.money.settlements, 'svc_ledger_way="log"'), 10),
    ],
  },
  {
    name: 'RejectedCharges',
    severity: 'critical',
    expr: `sum(increase(${m.money.rejected}[1h])) > 0`,
    summary: 'Charges cannot be posted and wait for an operator to look at them.',
    runbook: 'rejected-charges',
    fires: [risen(counter(m.money.rejected))],
    quiet: [flat(counter(m.money.rejected), 3)],
    at: '70m',
  },
  {
    name: 'HoldsLost',
    severity: 'critical',
    expr: `sum(increase(${m.money.holdsLost}[1h])) > 0`,
    summary: 'Redis lost holds of requests in progress: their money may be spent twice.',
    runbook: 'holds-lost',
    fires: [risen(counter(m.money.holdsLost), 12)],
    quiet: [flat(counter(m.money.holdsLost), 12)],
    at: '70m',
  },
];

const eventAlerts = [
  {
    name: 'DeadLetters',
    severity: 'critical',
    expr: `sum by (${TOPIC}) (increase(${m.events.dead}[1h])) > 0`,
    summary: 'Events of {{ $labels.messaging_destination_name }} could not be read.',
    runbook: 'dead-letters',
    fires: [risen(counter(m.events.dead, USAGE))],
    quiet: [flat(counter(m.events.dead, USAGE), 2)],
    at: '70m',
  },
  {
    name: 'ConsumerStuck',
    severity: 'critical',
    expr: `max by (${TOPIC}, ${GROUP}) (${m.events.failures}) > 5 or (min by (${TOPIC}, ${GROUP}) (min_over_time(${m.events.lag}[5m])) > 0 and sum by (${TOPIC}, ${GROUP}) (rate(${m.events.handled}[5m])) == 0)`,
    for: '1m',
    summary:
      '{{ $labels.messaging_consumer_group_name }} makes no progress on {{ $labels.messaging_destination_name }}.',
    runbook: 'consumer-stuck',
    fires: [flat(counter(m.events.lag, USAGE), 40), flat(counter(m.events.handled, USAGE), 7)],
    quiet: [
      flat(counter(m.events.lag, USAGE), 40),
      rising(counter(m.events.handled, USAGE), 100),
      flat(counter(m.events.failures, USAGE), 1),
    ],
  },
  {
    name: 'EventLogLost',
    severity: 'critical',
    expr: `max by (job, messaging_system) (${m.events.failing}) == 1`,
    for: '30s',
    summary: '{{ $labels.job }} cannot store events in {{ $labels.messaging_system }}.',
    runbook: 'event-log-lost',
    fires: [flat(counter(m.events.failing, 'messaging_system="kafka"'), 1)],
    quiet: [flat(counter(m.events.failing, 'messaging_system="kafka"'), 0)],
  },
  {
    name: 'JobsFailed',
    severity: 'warning',
    expr: `sum by (svc_job) (increase(${m.events.jobsFailed}[1h])) > 0`,
    summary: 'The job {{ $labels.svc_job }} failed after all its retries.',
    runbook: 'jobs-failed',
    fires: [risen(counter(m.events.jobsFailed, 'svc_job="set-staked-diem"'))],
    quiet: [flat(counter(m.events.jobsFailed, 'svc_job="set-staked-diem"'), 1)],
    at: '70m',
  },
];

const attempts = (outcome) =>
  counter(m.router.attempts, `${MODEL}="a-model",${BACKEND}="backend-1",svc_router_outcome="${outcome}"`);

/** Client errors other than timeouts and rate limits: caused by the request, the key, or the model name. */
const rejections = `sum by (${MODEL}, ${BACKEND}) (increase(${m.router.errors}{${STATUS}=~"4..",${STATUS}!~"408|429"}[10m]))`;
const ended = `sum by (${MODEL}, ${BACKEND}) (increase(${m.router.attempts}{svc_router_outcome=~"answered|refused|failed"}[10m]))`;
const rejected = counter(m.router.errors, `${MODEL}="a-model",${BACKEND}="backend-1",${STATUS}="400"`);

const wrongChain = counter(m.router.wrongChain, `${MODEL}="#crypto-rpc-a",${BACKEND}="backend-1"`);

/** A few failed attempts matter little for a busy model, and much for one with few requests. */
const noHealthyBackend = [
  { severity: 'critical', window: '2m', least: 5, lasting: '30s' },
  { severity: 'warning', window: '15m', least: 3, lasting: '1m' },
].map(({ severity, window, least, lasting }) => {
  const increased = (outcomes) =>
    `sum by (${MODEL}) (increase(${m.router.attempts}{svc_router_outcome=~"${outcomes}"}[${window}]))`;
  const failed = increased('failed|full');
  return {
    name: 'NoHealthyBackend',
    severity,
    expr: `${failed} / ${increased('answered|refused|failed|full')} > 0.9 and ${failed} >= ${least}`,
    for: lasting,
    summary: `No backend of {{ $labels.gen_ai_request_model }} responds: {{ $value | humanizePercentage }} of the attempts in ${window} failed.`,
    runbook: 'no-healthy-backend',
    fires: [rising(attempts('failed'), 5), flat(attempts('answered'), 9)],
    quiet: [rising(attempts('failed'), 5), rising(attempts('answered'), 5)],
    alsoQuiet: [
      ['after one failed attempt', [risenAt(18, attempts('failed'), 1), flat(attempts('answered'), 9)]],
      ['while another backend responds', [rising(attempts('full'), 50), rising(attempts('answered'), 50)]],
    ],
  };
});

const databaseCalls = (error) =>
  counter(`${m.neighbours.database}_count`, `db_system_name="postgresql",error_type="${error}"`);
const databaseIncrease = (error = '') =>
  `sum by (job) (increase(${m.neighbours.database}_count{db_system_name="postgresql"${error}}[2m]))`;
const lostCalls = databaseIncrease(',error_type="connection"');

const neighbourAlerts = [
  ...noHealthyBackend,
  {
    name: 'WrongChain',
    severity: 'critical',
    expr: `max by (${MODEL}, ${BACKEND}) (${m.router.wrongChain}) > 0`,
    for: '1m',
    summary:
      '{{ $labels.svc_backend }} of {{ $labels.gen_ai_request_model }} is a node of another chain and is not used.',
    runbook: 'wrong-chain',
    fires: [flat(wrongChain, 1)],
    quiet: [flat(wrongChain, 0)],
  },
  {
    name: 'BackendRejects',
    severity: 'warning',
    expr: `${rejections} / ${ended} > 0.9 and ${rejections} > 9`,
    for: '1m',
    summary:
      '{{ $labels.svc_backend }} of {{ $labels.gen_ai_request_model }} rejects {{ $value | humanizePercentage }} of its requests.',
    runbook: 'backend-rejects',
    fires: [rising(rejected, 5), rising(attempts('refused'), 5)],
    quiet: [rising(rejected, 5), rising(attempts('refused'), 5), rising(attempts('answered'), 5)],
  },
  {
    name: 'BackendSilent',
    severity: 'critical',
    expr: `sum by (${MODEL}) (increase(${m.router.attempts}{svc_router_outcome="aborted"}[2m])) > 5 unless sum by (${MODEL}) (rate(${m.router.attempts}{svc_router_outcome="answered"}[90s])) > 0`,
    dataExpr: `sum by (${MODEL}) (increase(${m.router.attempts}[2m]))`,
    for: '30s',
    summary:
      'Backends of {{ $labels.gen_ai_request_model }} accept requests and send nothing, until clients disconnect.',
    runbook: 'no-healthy-backend',
    fires: [rising(attempts('aborted'), 5), flat(attempts('answered'), 9)],
    quiet: [rising(attempts('aborted'), 5), rising(attempts('answered'), 5)],
  },
  {
    name: 'RedisLost',
    severity: 'critical',
    needs: 'cluster',
    expr: `min by (job, svc_connection) (${m.neighbours.redisUp}) == 0`,
    for: '15s',
    summary: '{{ $labels.job }} has no connection to Redis ({{ $labels.svc_connection }}).',
    runbook: 'redis-lost',
    fires: [flat(counter(m.neighbours.redisUp, 'svc_connection="holds"'), 0)],
    quiet: [flat(counter(m.neighbours.redisUp, 'svc_connection="holds"'), 1)],
  },
  {
    name: 'DatabaseLost',
    severity: 'critical',
    expr: `${lostCalls} / ${databaseIncrease()} > 0.5 and ${lostCalls} >= 5`,
    for: '30s',
    summary: '{{ $labels.job }} loses {{ $value | humanizePercentage }} of its calls to PostgreSQL.',
    runbook: 'database-lost',
    fires: [rising(databaseCalls('connection'), 3), flat(databaseCalls(''), 90)],
    quiet: [flat(databaseCalls('connection'), 3), rising(databaseCalls(''), 30)],
    alsoQuiet: [
      ['after one lost call', [risenAt(18, databaseCalls('connection'), 1), flat(databaseCalls(''), 90)]],
      ['while most calls succeed', [rising(databaseCalls('connection'), 9), rising(databaseCalls(''), 30)]],
    ],
  },
  {
    name: 'LimitsAlone',
    severity: 'warning',
    needs: 'cluster',
    expr: `max by (job, instance) (${m.limits.alone}) == 1`,
    for: '1m',
    summary:
      '{{ $labels.job }} at {{ $labels.instance }} counts limits on its own, without the shared counters.',
    runbook: 'limits-alone',
    fires: [flat(counter(m.limits.alone), 1)],
    quiet: [flat(counter(m.limits.alone), 0)],
  },
];

const processAlerts = [
  {
    name: 'EventLoopBlocked',
    severity: 'warning',
    expr: `max by (job, instance) (${m.runtime.loopDelayP99}) > 0.25`,
    for: '5m',
    summary: 'Requests of {{ $labels.job }} at {{ $labels.instance }} wait for its event loop.',
    runbook: 'event-loop-blocked',
    fires: [flat(counter(m.runtime.loopDelayP99), 0.5)],
    quiet: [flat(counter(m.runtime.loopDelayP99), 0.02)],
  },
  {
    name: 'HeapNearLimit',
    severity: 'warning',
    expr: `sum by (job, instance) (${m.runtime.memoryOfNode}{svc_memory_kind="heap_used"}) / sum by (job, instance) (${m.runtime.heapLimit}) > 0.85`,
    for: '5m',
    summary: '{{ $labels.job }} at {{ $labels.instance }} is about to run out of memory.',
    runbook: 'heap-near-limit',
    fires: [
      flat(counter(m.runtime.memoryOfNode, 'svc_memory_kind="heap_used"'), 9),
      flat(counter(m.runtime.heapLimit), 10),
    ],
    quiet: [
      flat(counter(m.runtime.memoryOfNode, 'svc_memory_kind="heap_used"'), 3),
      flat(counter(m.runtime.heapLimit), 10),
    ],
  },
  {
    name: 'DescriptorsNearLimit',
    severity: 'warning',
    expr: `sum by (job, instance) (${m.runtime.descriptors}) / sum by (job, instance) (${m.runtime.descriptorLimit}) > 0.8`,
    for: '5m',
    summary: '{{ $labels.job }} at {{ $labels.instance }} will soon accept no more connections.',
    runbook: 'descriptors-near-limit',
    fires: [flat(counter(m.runtime.descriptors), 900), flat(counter(m.runtime.descriptorLimit), 1_000)],
    quiet: [flat(counter(m.runtime.descriptors), 90), flat(counter(m.runtime.descriptorLimit), 1_000)],
  },
];

export const ALERTS = [
  ...presenceAlerts,
  ...burnAlerts,
  ...waitingAlerts,
  ...moneyAlerts,
  ...paymentAlerts,
  ...mediaAlerts,
  ...batchAlerts,
  ...eventAlerts,
  ...neighbourAlerts,
  ...backendAlerts,
  ...supplyAlerts,
  ...fileAlerts,
  ...processAlerts,
];
