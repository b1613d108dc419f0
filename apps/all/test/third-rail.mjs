// The whole platform in one process, with a rail that it does not ship: one file like those in
// `libs/payments/src/rails`, and its row in the table of rails. Everything else is as it is.
import 'reflect-metadata';
import { RAILS, evmRail, paymentsConfigOf } from '@svc/payments';
import { runProcess } from '@svc/runtime';
import { settings, start } from '../dist/start.js';

const polygon = evmRail({
  name: 'polygon',
  title: 'Polygon',
  chainId: 137,
  asset: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
  extra: { name: 'USD Coin', version: '2' },
  prefix: 'X402_POLYGON',
});

const rails = [...RAILS, polygon];

await runProcess(process.env, {
  settings: { ...settings, ...paymentsConfigOf(rails) },
  start: (starting) => start(starting, rails),
});
