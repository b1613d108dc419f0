import { expect, it } from 'vitest';
import { type BackendState, joinedReports } from './backend-states.js';

const ROW: BackendState = {
  model: 'm',
  name: 'a',
  url: 'http://a/v1',
  state: 'up',
  reason: null,
  drainedAs: null,
  inFlight: 1,
  waiting: 0,
  maxInFlight: 4,
  firstTokenP50Ms: null,
  firstTokenP99Ms: 300,
  failedShare: 0.1,
  hitShare: null,
};

it('adds up what routers report of a backend, with the worst of its states and the reason for that', () => {
  const cooling: BackendState = {
    ...ROW,
    state: 'cooling',
    reason: 'failed',
    inFlight: 2,
    waiting: 3,
    firstTokenP50Ms: 100,
    firstTokenP99Ms: 200,
    failedShare: 0.5,
    hitShare: 0.5,
  };
  expect(joinedReports([[ROW], [cooling], [ROW]])).toEqual({
    routers: 3,
    backends: [
      {
        ...cooling,
        inFlight: 4,
        maxInFlight: 12,
        firstTokenP50Ms: 100,
        firstTokenP99Ms: 300,
        failedShare: 0.5,
        hitShare: 0.5,
      },
    ],
  });
});

it('shows a backend as out of service once every router knows', () => {
  const drained: BackendState = { ...ROW, state: 'draining', reason: 'New driver', drainedAs: 'a' };
  expect(joinedReports([[drained], [ROW], [drained]]).backends).toMatchObject([
    { state: 'up', reason: null, drainedAs: null },
  ]);
  expect(joinedReports([[drained], [drained]]).backends).toMatchObject([
    { state: 'draining', reason: 'New driver', drainedAs: 'a' },
  ]);
});

it('keeps backends apart that differ in model, name or address', () => {
  const rows = [ROW, { ...ROW, model: 'n' }, { ...ROW, name: 'b' }, { ...ROW, url: 'http://b/v1' }];
  expect(joinedReports([rows]).backends).toEqual(rows);
});
