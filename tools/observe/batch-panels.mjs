// Panels about batches of requests, in the format of `service-boards.mjs`. They are part of the inference
// board.
import { m } from './names.mjs';

const OUTCOME = 'svc_batches_outcome';

export const batchPanels = [
  { row: 'Do batches end?' },
  {
    title: 'Batches under way',
    unit: 'short',
    bad: 'Zero, while accounts have batches that have not ended.',
    todo: 'Check `GATEWAY_BATCHES_AT_ONCE` and the log of the gateways.',
    queries: [[`sum(${m.batches.running})`, 'batches', '0']],
  },
  {
    title: 'Lines with results, a second',
    unit: 'short',
    bad: 'Zero, while batches are under way: models are busy or offline.',
    todo: 'Check the backends of their models.',
    queries: [[`sum by (${OUTCOME}) (rate(${m.batches.lines}[5m]))`, `{{${OUTCOME}}}`, '0']],
  },
  {
    title: 'Ended batches, an hour',
    unit: 'short',
    bad: 'Many `expired`: there is not enough room for them.',
    todo: 'Add backends.',
    queries: [[`sum by (${OUTCOME}) (increase(${m.batches.ended}[1h]))`, `{{${OUTCOME}}}`, '0']],
  },
  {
    title: 'Batches that had to be left, an hour',
    unit: 'short',
    bad: 'Rising: the database, or the store of files, does not respond.',
    todo: 'Check the log of the gateways for `batchId`.',
    queries: [[`sum(increase(${m.batches.failures}[1h]))`, 'failures', '0']],
  },
];
