// Dashboards of money and limits, in the format of `service-boards.mjs`.
import { MODEL, TOPIC, m, most, quantile, rate, total } from './names.mjs';
import { paymentPanels } from './payment-panels.mjs';

const usageLag = `${TOPIC}="usage.recorded.v1"`;
const EACH = 'job, instance';

export const money = {
  title: 'Money',
  panels: [
    { row: 'Is everything charged?' },
    {
      title: 'Charged per hour',
      unit: 'currencyUSD',
      bad: 'A decrease at the same number of tokens.',
      todo: 'Compare with Tokens per second, then check How charges become durable.',
      queries: [[`${rate(m.money.charged, 'svc_currency')} * 3600`, '{{svc_currency}}', '+']],
    },
    {
      title: 'How charges become durable',
      unit: 'suffix: charges/s',
      bad: '`direct` or `journal`: the event log is down. `refused`: completions are not charged.',
      todo: 'Runbook event-log-lost; for `refused` charges-refused.',
      queries: [[rate(m.money.settlements, 'svc_ledger_way'), '{{svc_ledger_way}}', '0']],
    },
    {
      title: 'Charges that wait to be posted directly',
      unit: 'short',
      bad: 'Above 0 for long: neither the event log nor the books accept them.',
      todo: 'Runbooks event-log-lost and database-lost. Do not delete the journals of these processes.',
      queries: [[total(m.money.unposted), 'charges', '0']],
    },
    {
      title: 'Written off, an hour',
      unit: 'currencyUSD',
      bad: 'Above 1 % of what is charged.',
      todo: 'Runbook write-offs.',
      queries: [[`sum by (svc_step) (increase(${m.money.writtenOff}[1h]))`, '{{svc_step}}', '0']],
    },
    {
      title: 'Refused for insufficient balance, an hour',
      unit: 'currencyUSD',
      bad: 'A sudden increase: a customer has spent all credit, or balances cannot be read.',
      todo: 'Find the accounts in the log lines with status 402.',
      queries: [[`sum by (svc_problem) (increase(${m.money.refused}[1h]))`, '{{svc_problem}}', '0']],
    },
    {
      title: 'Refunded, an hour',
      unit: 'currencyUSD',
      bad: 'More than the operator intended.',
      todo: 'List the transfers of kind `refund`.',
      queries: [[`sum by (svc_currency) (increase(${m.money.refunded}[1h]))`, '{{svc_currency}}', '0']],
    },
    { row: 'Are charges posted in time, and do audits pass?' },
    {
      title: 'Age of the oldest unposted charge',
      unit: 's',
      bad: 'Above 30 s.',
      todo: 'Runbook ledger-lag.',
      queries: [[most(m.events.oldest, '', usageLag), 'age', '0']],
    },
    {
      title: 'Posting a batch, p95',
      unit: 's',
      bad: 'Above 1 s: PostgreSQL is slow.',
      todo: 'Check its disk, its locks (`pg_stat_activity`) and Connections to PostgreSQL.',
      queries: [[quantile(0.95, m.money.postingDuration), 'p95', '+']],
    },
    {
      title: 'Charges in a batch',
      unit: 'short',
      bad: 'At its bound of 1,000 while the age increases: the ledger does not keep up.',
      todo: 'Add ledger replicas, up to the partitions of the topic.',
      queries: [
        [quantile(0.5, m.money.postingSize), 'median', '+'],
        [quantile(0.95, m.money.postingSize), 'p95', '+'],
      ],
    },
    {
      title: 'Audits, an hour',
      unit: 'short',
      bad: '`wrong`, even once; `failed`, more than once.',
      todo: 'Runbook audit-failed.',
      queries: [
        [
          `sum by (svc_audit_scope, svc_audit_result) (increase(${m.money.audits}[1h]))`,
          '{{svc_audit_scope}} {{svc_audit_result}}',
          '0',
        ],
      ],
    },
    {
      title: 'Charges that cannot be posted, a day',
      kind: 'stat',
      unit: 'short',
      bad: 'Any.',
      todo: 'Runbook rejected-charges.',
      queries: [[`sum(increase(${m.money.rejected}[1d]))`, 'charges', '0']],
    },
    { row: 'What do live requests hold?' },
    {
      title: 'Held by live requests',
      unit: 'currencyUSD',
      bad: 'An increase without more requests: holds are not released.',
      todo: 'Check Live holds and the age of the oldest hold; if Redis was restarted, runbook holds-lost.',
      queries: [[total(m.money.held, 'svc_currency'), '{{svc_currency}}', '0']],
    },
    {
      title: 'Live holds',
      unit: 'short',
      bad: 'More than the requests in progress.',
      todo: 'Search the log for `holds were neither settled nor released`.',
      queries: [[total(m.money.holds), 'holds', '0']],
    },
    {
      title: 'Age of the oldest hold',
      unit: 's',
      bad: 'Longer than the longest response: a request hangs.',
      todo: 'Restart the process that has it; its holds expire with their lease.',
      queries: [[most(m.money.oldestHold, EACH), '{{job}} {{instance}}', '0']],
    },
    {
      title: 'Calls to the ledger, p95',
      unit: 's',
      bad: '`hold` above 50 ms: it delays every request.',
      todo: 'Check Redis and the event loop of the ledger.',
      queries: [[quantile(0.95, m.money.callDuration, 'svc_ledger_call'), '{{svc_ledger_call}}', '+']],
    },
    {
      title: 'Holds and buckets that Redis lost, an hour',
      unit: 'short',
      bad: 'Lost holds: money may be spent twice.',
      todo: 'Runbook holds-lost.',
      queries: [
        [`sum(increase(${m.money.holdsLost}[1h]))`, 'holds', '0'],
        [`sum(increase(${m.money.marksMissing}[1h]))`, 'buckets', '0'],
      ],
    },
    {
      title: 'Amount of lost holds, an hour',
      unit: 'currencyUSD',
      bad: 'Any: the maximum amount that may be spent twice.',
      todo: 'Runbook holds-lost.',
      queries: [[`sum by (svc_currency) (increase(${m.money.lostAmount}[1h]))`, '{{svc_currency}}', '0']],
    },
    { row: 'What is left when hosted providers are paid?' },
    {
      title: 'Margin per hour, by model',
      unit: 'currencyUSD',
      bad: 'Below 0: a model with a `markup` below 1, or one whose requests are written off or in a cheap tier.',
      todo: 'Compare `providerPricing` in the catalogue with the bill of the provider. The exact sums are the entries `margin` of the month: docs/operators.md, Accounting. What such requests pay for searches is included here.',
      queries: [
        [
          `(${rate(m.money.charged, MODEL)} - ${rate(m.money.providerCost, MODEL)}) * 3600 or vector(0)`,
          `{{${MODEL}}}`,
          'any',
        ],
      ],
    },
    ...paymentPanels,
  ],
};

export const limits = {
  title: 'Limits and abuse',
  panels: [
    { row: 'Which requests are rejected?' },
    {
      title: 'Refused by type',
      unit: 'reqps',
      bad: 'A sudden increase of one type.',
      todo: 'The accounts with the most refusals: `npx svcctl spenders --from DAY --until DAY --by refusals`. Then GET /api/v1/api_keys/rate_limits/log of the account, or the log lines with status 429.',
      queries: [[rate(m.limits.refusals, 'svc_limits_type'), '{{svc_limits_type}}', '0']],
    },
    {
      title: 'Refused before any work',
      unit: 'reqps',
      bad: 'A flood of AUTHENTICATION_FAILED: someone is guessing keys.',
      todo: 'Block the address in front of the gateway; keys are blocked automatically.',
      queries: [
        [
          `${rate(m.requests.problems, 'svc_problem', 'svc_problem=~"AUTHENTICATION_FAILED|UNAUTHORIZED|RATE_LIMIT_EXCEEDED|PAYLOAD_TOO_LARGE|INVALID_.*|MALFORMED_REQUEST"')}`,
          '{{svc_problem}}',
          '0',
        ],
      ],
    },
    { row: 'Do the shared counters respond?' },
    {
      title: 'Processes without the shared counters',
      unit: 'bool_yes_no',
      bad: '1: limits are exact only for each process.',
      todo: 'Runbook limits-alone.',
      queries: [[`${most(m.limits.alone, EACH)} > 0 or vector(0)`, '{{job}} {{instance}}', '0']],
    },
    {
      title: 'Decisions without the shared counters',
      unit: 'reqps',
      bad: 'Above 0.',
      todo: 'As above.',
      queries: [
        [`${rate(m.limits.countedAlone, 'svc_limits_outcome')} or vector(0)`, '{{svc_limits_outcome}}', '0'],
      ],
    },
    {
      title: 'Failed calls to the shared counters',
      unit: 'reqps',
      bad: 'Above 0: Redis or the limiter is slow.',
      todo: 'Check Redis below, and the event loop of the limiter.',
      queries: [[`${rate(m.limits.faults)} or vector(0)`, 'calls', '0']],
    },
    {
      title: 'Redis scripts, p99',
      unit: 's',
      bad: 'Above 20 ms.',
      todo: '`redis-cli --latency`, `SLOWLOG GET`.',
      queries: [
        [quantile(0.99, `${m.neighbours.database}{db_system_name="redis"}`, 'job'), '{{job}}', 'cluster'],
      ],
    },
  ],
};
