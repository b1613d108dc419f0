import { SECONDS, BATCH } from '../metrics/boundaries.js';
import { Counter, Gauge, Histogram } from '../metrics/metrics.js';

/** Money, for monitoring only: the books are authoritative. */
export const money = {
  held: new Gauge({
    name: 'svc.money.held',
    unit: '{USD}',
    help: 'Money held by running requests of this process.',
    labels: ['svc.currency'],
  }),
  charged: new Counter({
    name: 'svc.money.charged',
    unit: '{USD}',
    help: 'Money charged for responses.',
    labels: ['svc.currency', 'gen_ai.request.model'],
  }),
  providerCost: new Counter({
    name: 'svc.money.provider_cost',
    unit: '{USD}',
    help: 'What hosted providers take for charged responses, of models that are sold at their price with a markup.',
    labels: ['gen_ai.request.model'],
  }),
  writtenOff: new Counter(
    {
      name: 'svc.money.written_off',
      unit: '{USD}',
      help: 'Cost of delivered responses that was written off, when the response was settled or when its charge was posted.',
      labels: ['svc.step'],
    },
    [['settling'], ['posting']],
  ),
  refunded: new Counter(
    {
      name: 'svc.money.refunded',
      unit: '{USD}',
      help: 'Money refunded.',
      labels: ['svc.currency'],
    },
    [['USD'], ['DIEM']],
  ),
  refused: new Counter(
    {
      name: 'svc.money.refused',
      unit: '{USD}',
      help: 'Holds that were rejected, by error code.',
      labels: ['svc.problem'],
    },
    [['INSUFFICIENT_BALANCE']],
  ),
  holds: new Gauge({
    name: 'svc.ledger.holds',
    unit: '{hold}',
    help: 'Open holds of requests of this process.',
    labels: [],
  }),
  oldestHold: new Gauge({
    name: 'svc.ledger.hold.age',
    unit: 's',
    help: 'The age of the oldest open hold of this process.',
    labels: [],
  }),
  callDuration: new Histogram(
    {
      name: 'svc.ledger.call.duration',
      unit: 's',
      help: 'Duration of calls to the ledger.',
      labels: ['svc.ledger.call', 'error.type'],
    },
    SECONDS.call,
  ),
  settlements: new Counter(
    {
      name: 'svc.ledger.settlements',
      unit: '{charge}',
      help: 'Settled charges, by where they were stored: in the event log, directly in the books or in the journal; or refused, and then never charged.',
      labels: ['svc.ledger.way'],
    },
    [['log'], ['direct'], ['journal'], ['refused']],
  ),
  unposted: new Gauge({
    name: 'svc.ledger.unposted',
    unit: '{charge}',
    help: 'Charges that the event log did not accept and that wait in this process to be posted.',
    labels: [],
  }),
  journalled: new Gauge({
    name: 'svc.ledger.journal.charges',
    unit: '{charge}',
    help: 'Charges in the journal of this process that are not posted yet, by the name of the host that has its volume.',
    labels: ['svc.journal'],
  }),
  postingDuration: new Histogram(
    {
      name: 'svc.ledger.posting.duration',
      unit: 's',
      help: 'Time to post a batch of charges to the books.',
      labels: [],
    },
    SECONDS.http,
  ),
  postingSize: new Histogram(
    { name: 'svc.ledger.posting.size', unit: '{charge}', help: 'Charges per posted batch.', labels: [] },
    BATCH,
  ),
  rejected: new Counter({
    name: 'svc.ledger.rejected_charges',
    unit: '{charge}',
    help: 'Charges that cannot be posted and need an operator.',
    labels: [],
  }),
  audits: new Counter(
    {
      name: 'svc.ledger.audit.runs',
      unit: '{run}',
      help: 'Audits by scope and result: `proved` without mismatches, `wrong` with mismatches, or `failed` to complete.',
      labels: ['svc.audit.scope', 'svc.audit.result'],
    },
    [
      ['new', 'wrong'],
      ['whole', 'wrong'],
      ['new', 'failed'],
      ['whole', 'failed'],
    ],
  ),
  wrong: new Gauge({
    name: 'svc.ledger.audit.wrong_time',
    unit: 's',
    help: 'When an audit of this process last found a mismatch, as Unix time.',
    labels: ['svc.audit.scope'],
  }),
  proved: new Gauge({
    name: 'svc.ledger.audit.proved_time',
    unit: 's',
    help: 'When an audit of the books last found no mismatches, as Unix time.',
    labels: ['svc.audit.scope'],
  }),
  holdsLost: new Counter({
    name: 'svc.ledger.holds_lost',
    unit: '{hold}',
    help: 'Holds that Redis lost during their requests and that could not be restored, so their money may be authorised twice.',
    labels: [],
  }),
  lostAmount: new Counter(
    {
      name: 'svc.ledger.holds_lost.amount',
      unit: '{USD}',
      help: 'The money of holds that Redis lost and that could not be restored.',
      labels: ['svc.currency'],
    },
    [['USD'], ['DIEM']],
  ),
  marksMissing: new Counter({
    name: 'svc.ledger.marks_missing',
    unit: '{mark}',
    help: 'Buckets of accounts without a generation marker in Redis: at its first start, or because it lost data.',
    labels: [],
  }),
};
