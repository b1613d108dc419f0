import { SECONDS, BATCH } from '../cells/boundaries.js';
import { Counter, Gauge, Histogram } from '../cells/metrics.js';

/** Money, for monitoring only: the books are authoritative. */
export const money = {
  held: new Gauge({
    name: 'svc.money.held',
    unit: '{USD}',
    help: 'Money that live requests of this process hold.',
    labels: ['svc.currency'],
  }),
  charged: new Counter({
    name: 'svc.money.charged',
    unit: '{USD}',
    help: 'What was charged for answers.',
    labels: ['svc.currency', 'gen_ai.request.model'],
  }),
  writtenOff: new Counter(
    {
      name: 'svc.money.written_off',
      unit: '{USD}',
      help: 'What was delivered and nobody pays: as an answer is settled, or as its charge is posted.',
      labels: ['svc.step'],
    },
    [['settling'], ['posting']],
  ),
  refunded: new Counter(
    {
      name: 'svc.money.refunded',
      unit: '{USD}',
      help: 'What was given back of charges.',
      labels: ['svc.currency'],
    },
    [['USD'], ['DIEM']],
  ),
  refused: new Counter(
    {
      name: 'svc.money.refused',
      unit: '{USD}',
      help: 'What requests wanted to hold and could not, by the problem they were refused with.',
      labels: ['svc.problem'],
    },
    [['INSUFFICIENT_BALANCE']],
  ),
  holds: new Gauge({
    name: 'svc.ledger.holds',
    unit: '{hold}',
    help: 'Live holds of requests of this process.',
    labels: [],
  }),
  oldestHold: new Gauge({
    name: 'svc.ledger.hold.age',
    unit: 's',
    help: 'The age of the oldest live hold of this process.',
    labels: [],
  }),
  callDuration: new Histogram(
    {
      name: 'svc.ledger.call.duration',
      unit: 's',
      help: 'Calls of a request to the ledger.',
      labels: ['svc.ledger.call', 'error.type'],
    },
    SECONDS.call,
  ),
  settlements: new Counter(
    {
      name: 'svc.ledger.settlements',
      unit: '{charge}',
      help: 'Charges made durable: in the event log, directly in the books, in the journal; or refused, and then never charged.',
      labels: ['svc.ledger.way'],
    },
    [['log'], ['direct'], ['journal'], ['refused']],
  ),
  unposted: new Gauge({
    name: 'svc.ledger.unposted',
    unit: '{charge}',
    help: 'Charges that the event log did not take and that wait in this process to be posted.',
    labels: [],
  }),
  postingDuration: new Histogram(
    {
      name: 'svc.ledger.posting.duration',
      unit: 's',
      help: 'One batch of charges into the books.',
      labels: [],
    },
    SECONDS.http,
  ),
  postingSize: new Histogram(
    { name: 'svc.ledger.posting.size', unit: '{charge}', help: 'Charges in a batch.', labels: [] },
    BATCH,
  ),
  rejected: new Counter({
    name: 'svc.ledger.rejected_charges',
    unit: '{charge}',
    help: 'Charges that can not be posted and wait for someone to look at them.',
    labels: [],
  }),
  audits: new Counter(
    {
      name: 'svc.ledger.audit.runs',
      unit: '{run}',
      help: 'Audits by scope and result: proved, wrong, or failed where it could not be told.',
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
    help: 'When an audit of this process last found a fault, since 1970.',
    labels: ['svc.audit.scope'],
  }),
  proved: new Gauge({
    name: 'svc.ledger.audit.proved_time',
    unit: 's',
    help: 'When an audit last proved the books, since 1970.',
    labels: ['svc.audit.scope'],
  }),
  holdsLost: new Counter({
    name: 'svc.ledger.holds_lost',
    unit: '{hold}',
    help: 'Holds that Redis lost while their requests lived and that could not be taken again: that money may be authorised twice.',
    labels: [],
  }),
  lostAmount: new Counter(
    {
      name: 'svc.ledger.holds_lost.amount',
      unit: '{USD}',
      help: 'The money of those holds.',
      labels: ['svc.currency'],
    },
    [['USD'], ['DIEM']],
  ),
  marksMissing: new Counter({
    name: 'svc.ledger.marks_missing',
    unit: '{mark}',
    help: 'Buckets of accounts that Redis knew nothing of: at its first start, or because it lost its memory.',
    labels: [],
  }),
};
