import { SECONDS } from '../metrics/boundaries.js';
import { Counter, Gauge, Histogram } from '../metrics/metrics.js';

/** Payments of wallets, and the chains that confirm them. */
export const payments = {
  open: new Gauge({
    name: 'svc.payments.open',
    unit: '{payment}',
    help: 'Payments that have not ended, by rail and state; all processes report the same. UNKNOWN: the chain does not show the outcome.',
    labels: ['svc.payments.rail', 'svc.payments.state'],
  }),
  oldest: new Gauge({
    name: 'svc.payments.oldest_open.age',
    unit: 's',
    help: 'The age of the oldest payment that is neither credited nor failed, UNKNOWN included; all processes report the same.',
    labels: ['svc.payments.rail'],
  }),
  ended: new Counter({
    name: 'svc.payments.ended',
    unit: '{payment}',
    help: 'Payments that have ended, by outcome.',
    labels: ['svc.payments.rail', 'svc.payments.state'],
  }),
  credited: new Counter({
    name: 'svc.payments.credited',
    unit: '{USD}',
    help: 'Money credited to wallets for payments received on a chain.',
    labels: ['svc.payments.rail'],
  }),
  reversed: new Counter({
    name: 'svc.payments.reversed',
    unit: '{payment}',
    help: 'Credited payments that disappeared from their chain, and whose credit was reversed.',
    labels: ['svc.payments.rail'],
  }),
  audits: new Counter(
    {
      name: 'svc.payments.audit.runs',
      unit: '{run}',
      help: 'Audits of payments by scope and result: `proved` without mismatches, `wrong` with mismatches, or `failed` to complete.',
      labels: ['svc.audit.scope', 'svc.audit.result'],
    },
    [
      ['new', 'proved'],
      ['whole', 'proved'],
      ['new', 'wrong'],
      ['whole', 'wrong'],
      ['new', 'failed'],
      ['whole', 'failed'],
    ],
  ),
  wrong: new Gauge({
    name: 'svc.payments.audit.wrong_time',
    unit: 's',
    help: 'When an audit of this process last found a mismatch, as Unix time.',
    labels: ['svc.audit.scope'],
  }),
  proved: new Gauge({
    name: 'svc.payments.audit.proved_time',
    unit: 's',
    help: 'When an audit of the payments last found no mismatches, as Unix time.',
    labels: ['svc.audit.scope'],
  }),
  signIns: new Counter(
    {
      name: 'svc.payments.sign_ins',
      unit: '{sign_in}',
      help: 'Wallet sign-ins by error code; the code of successful ones is empty.',
      labels: ['svc.problem'],
    },
    [[''], ['X402_SIGN_IN_INVALID_SIGNATURE']],
  ),
  chainCalls: new Histogram(
    {
      name: 'svc.payments.chain.call.duration',
      unit: 's',
      help: 'Duration of calls to the node of a chain and to a facilitator.',
      labels: ['svc.payments.rail', 'svc.payments.peer', 'error.type'],
    },
    SECONDS.http,
  ),
  chainTime: new Gauge({
    name: 'svc.payments.chain.time',
    unit: 's',
    help: 'When the last block was made that the node of a chain has shown, as Unix time.',
    labels: ['svc.payments.rail'],
  }),
  affordable: new Gauge({
    name: 'svc.payments.affordable',
    unit: '{payment}',
    help: 'Payments whose fees our own signer can still pay, at the current price of gas; none with a facilitator.',
    labels: ['svc.payments.rail'],
  }),
  chainFailing: new Gauge({
    name: 'svc.payments.chain.failing',
    unit: '1',
    help: '1 if the last call to the node of a chain failed, otherwise 0.',
    labels: ['svc.payments.rail'],
  }),
};
