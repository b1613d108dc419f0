// Dashboards of events, jobs, databases and processes, in the format of `service-boards.mjs`.
import { noticePanels } from './notice-panels.mjs';
import { GROUP, TOPIC, m, most, quantile, rate, total } from './names.mjs';

const EACH = 'job, instance';

const group = `{{${GROUP}}} {{${TOPIC}}}`;

export const events = {
  title: 'Events and jobs',
  panels: [
    { row: 'Are events handled?' },
    {
      title: 'Age of the oldest unhandled event',
      unit: 's',
      bad: 'Above 30 s.',
      todo: 'Runbook consumer-stuck; for the group ledger, ledger-lag.',
      queries: [[most(m.events.oldest, `${TOPIC}, ${GROUP}`), group, '0']],
    },
    {
      title: 'Unhandled events',
      unit: 'short',
      bad: 'An increase.',
      todo: 'Add replicas of the consumer, or fix what it waits for.',
      queries: [[most(m.events.lag, `${TOPIC}, ${GROUP}`), group, '0']],
    },
    {
      title: 'Events handled',
      unit: 'suffix: events/s',
      bad: 'Nothing while events are stored.',
      todo: 'Runbook consumer-stuck.',
      queries: [[rate(m.events.handled, `${TOPIC}, ${GROUP}`), group, '0']],
    },
    {
      title: 'Failures in a row',
      unit: 'short',
      bad: 'Above 5.',
      todo: 'Runbook consumer-stuck: the log says what fails.',
      queries: [[most(m.events.failures, `${TOPIC}, ${GROUP}`), group, '0']],
    },
    {
      title: 'Handling a batch, p95',
      unit: 's',
      bad: 'Above 5 s: a rebalance makes other consumers wait.',
      todo: 'Check PostgreSQL.',
      queries: [[quantile(0.95, m.events.processed, `${TOPIC}, ${GROUP}`), group, 'any']],
    },
    {
      title: 'Dead letters, a day',
      kind: 'stat',
      unit: 'short',
      bad: 'Any.',
      todo: 'Runbook dead-letters.',
      queries: [[`sum by (${TOPIC}) (increase(${m.events.dead}[1d]))`, `{{${TOPIC}}}`, '0']],
    },
    { row: 'Are events stored?' },
    {
      title: 'Storing a batch, p95',
      unit: 's',
      bad: 'Above 100 ms: it delays the end of every response.',
      todo: 'Check the brokers: under-replicated partitions, disk.',
      queries: [[quantile(0.95, m.events.stored, 'messaging_system'), '{{messaging_system}}', '+']],
    },
    {
      title: 'Events in a batch, p95',
      unit: 'short',
      bad: 'At its bound of 1,000.',
      todo: 'Add gateways.',
      queries: [[quantile(0.95, m.events.batchSize, 'messaging_system'), '{{messaging_system}}', '+']],
    },
    {
      title: 'Events that wait to be stored',
      unit: 'short',
      bad: 'An increase: the event log does not keep up. 50,000: events are refused.',
      todo: 'Runbook event-log-lost.',
      queries: [[total(m.events.pending, 'messaging_system'), '{{messaging_system}}', '0']],
    },
    { row: 'Do jobs run?' },
    {
      title: 'Jobs by state',
      unit: 'short',
      bad: '`waiting` that increases; `failed`, even once.',
      todo: 'Runbook jobs-failed.',
      queries: [[most(m.events.jobs, 'svc_queue, svc_job_state'), '{{svc_queue}} {{svc_job_state}}', '0']],
    },
    {
      title: 'Jobs that failed permanently, a day',
      unit: 'short',
      bad: 'Any.',
      todo: 'Runbook jobs-failed.',
      queries: [[`sum by (svc_job) (increase(${m.events.jobsFailed}[1d]))`, '{{svc_job}}', '0']],
    },
    {
      title: 'Jobs, mean duration over an hour',
      unit: 's',
      bad: 'An increase from day to day.',
      todo: 'For audits: the books grow; see docs/books.md.',
      queries: [
        [
          // No value if no job of that name has finished.
          `sum by (svc_job) (increase(${m.events.jobDuration}_sum[1h])) / sum by (svc_job) (increase(${m.events.jobDuration}_count[1h]))`,
          '{{svc_job}}',
          'any',
        ],
      ],
    },
    ...noticePanels,
    { row: 'Do the databases respond?' },
    {
      title: 'PostgreSQL, p95',
      unit: 's',
      bad: 'Above 100 ms.',
      todo: 'Check `pg_stat_activity` for locks, and the disk.',
      queries: [
        [
          quantile(0.95, `${m.neighbours.database}{db_system_name="postgresql"}`, 'job, db_operation_name'),
          '{{job}} {{db_operation_name}}',
          'any',
        ],
      ],
    },
    {
      title: 'PostgreSQL, errors',
      unit: 'reqps',
      bad: '`connection`, even once.',
      todo: 'Runbook database-lost.',
      queries: [
        [
          `${rate(`${m.neighbours.database}_count`, 'error_type', 'db_system_name="postgresql",error_type!=""')} or vector(0)`,
          '{{error_type}}',
          '0',
        ],
      ],
    },
    {
      title: 'Connections to PostgreSQL',
      unit: 'short',
      bad: 'Used connections at the maximum, and waiting requests.',
      todo: 'Look for slow statements before you raise the maximum.',
      queries: [
        [
          total(m.neighbours.connections, 'db_client_connection_state'),
          '{{db_client_connection_state}}',
          '0',
        ],
        [total(m.neighbours.connectionsMax), 'bound', '+'],
        [total(m.neighbours.connectionsPending), 'waiting', '0'],
      ],
    },
    {
      title: 'Connected to Redis',
      unit: 'bool_yes_no',
      bad: '0.',
      todo: 'Runbook redis-lost.',
      queries: [
        [`min by (job, svc_connection) (${m.neighbours.redisUp})`, '{{job}} {{svc_connection}}', 'cluster'],
      ],
    },
  ],
};

export const runtime = {
  title: 'Runtime',
  panels: [
    { row: 'Is a process overloaded?' },
    {
      title: 'Event loop delay, p99',
      unit: 's',
      bad: 'Above 0.25 s: every request of that process waits.',
      todo: 'Runbook event-loop-blocked.',
      queries: [[most(m.runtime.loopDelayP99, EACH), '{{job}} {{instance}}', '0']],
    },
    {
      title: 'Event loop utilization',
      unit: 'percentunit',
      bad: 'Above 90 % for minutes.',
      todo: 'Add replicas.',
      queries: [[most(m.runtime.loopUtilization, EACH), '{{job}} {{instance}}', '+']],
    },
    {
      title: 'CPU',
      unit: 'suffix: cores',
      bad: 'At the limit of its container.',
      todo: 'Add replicas.',
      queries: [[rate(m.runtime.cpu, EACH), '{{job}} {{instance}}', '+']],
    },
    { row: 'Is a process running out of resources?' },
    {
      title: 'Memory',
      unit: 'bytes',
      bad: 'An increase that does not stop.',
      todo: 'Take a heap snapshot: `kill -USR2`, if the process was started with --heapsnapshot-signal=SIGUSR2.',
      queries: [[total(m.runtime.memory, EACH), '{{job}} {{instance}}', '+']],
    },
    {
      title: 'Heap, share of its limit',
      unit: 'percentunit',
      bad: 'Above 85 %: the process is about to run out of memory.',
      todo: 'Runbook heap-near-limit.',
      queries: [
        [
          `${total(m.runtime.memoryOfNode, EACH, 'svc_memory_kind="heap_used"')} / ${total(m.runtime.heapLimit, EACH)}`,
          '{{job}} {{instance}}',
          '+',
        ],
      ],
    },
    {
      title: 'Open file descriptors, share of the limit',
      unit: 'percentunit',
      bad: 'Above 80 %: soon no more connections are accepted.',
      todo: 'Runbook descriptors-near-limit.',
      queries: [
        [
          `${total(m.runtime.descriptors, EACH)} / ${total(m.runtime.descriptorLimit, EACH)}`,
          '{{job}} {{instance}}',
          '+',
        ],
      ],
    },
    { row: 'What is full next week, and what expires?' },
    {
      title: 'Disk that is left in seven days, at the pace of the last six hours',
      unit: 'bytes',
      bad: '0: it is full by then.',
      todo: 'Runbook disk-fills-up.',
      queries: [
        [
          `clamp_min(min by (${EACH}, svc_disk) (predict_linear(${m.runtime.diskAvailable}[6h], ${7 * 86_400})), 0)`,
          '{{job}} {{instance}} {{svc_disk}}',
          'any',
        ],
      ],
    },
    {
      title: 'Connections to PostgreSQL, most in use in a day',
      unit: 'percentunit',
      bad: 'Above 80 %: a little more load, and requests wait for a connection.',
      todo: 'Runbook database-queue.',
      queries: [
        [
          `max by (job) (max_over_time(${m.neighbours.connections}{db_client_connection_state="used"}[1d]) / on (job, instance, db_client_connection_pool_name) ${m.neighbours.connectionsMax})`,
          '{{job}}',
          '0',
        ],
      ],
    },
    {
      title: "Operators' tokens, time until they expire",
      unit: 's',
      bad: 'Less than 14 days.',
      todo: 'Runbook operator-tokens.',
      queries: [
        [
          `min by (svc_operator_token) (${m.requests.operatorExpiry}) - time()`,
          '{{svc_operator_token}}',
          'parsed',
        ],
      ],
    },
    {
      title: 'Payments that the signer can still afford',
      unit: 'short',
      bad: 'Below 1,000.',
      todo: 'Runbook signer-funds.',
      queries: [[`min by (svc_payments_rail) (${m.payments.affordable})`, '{{svc_payments_rail}}', 'parsed']],
    },
    { row: 'Which versions run, and since when?' },
    {
      title: 'Uptime',
      unit: 's',
      bad: 'A process whose uptime stays short: it crashes and is restarted.',
      todo: 'Read its last log lines.',
      queries: [[most(m.runtime.uptime, EACH), '{{job}} {{instance}}', '+']],
    },
    {
      title: 'Versions',
      kind: 'stat',
      unit: 'short',
      bad: 'Two versions of one service for longer than a rollout.',
      todo: 'Check the rollout.',
      queries: [
        [
          `count by (service_name, service_version) (${m.runtime.build})`,
          '{{service_name}} {{service_version}}',
          '+',
        ],
      ],
    },
  ],
};
