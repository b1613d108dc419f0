import { TestServer } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ChainAway } from '../chains/chain.js';
import { Facilitator } from './facilitator.js';

const NETWORK = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const KINDS = [{ scheme: 'exact', network: NETWORK, extra: { feePayer: 'payer' } }];

let questions: number;
let kinds: readonly object[];
let server: TestServer;
let facilitator: Facilitator;

beforeEach(async () => {
  questions = 0;
  kinds = KINDS;
  server = await TestServer.start((_request, response) => {
    questions += 1;
    response.end(JSON.stringify({ kinds }));
  });
  const rail = { name: 'solana', network: NETWORK, messageOf: () => Promise.reject(new Error('not needed')) };
  facilitator = new Facilitator(server.url, rail);
});

afterEach(() => server.close());

it('is asked once by any number of calls at the same time for the account that pays the fees', async () => {
  const payers = await Promise.all(Array.from({ length: 200 }, () => facilitator.feePayer()));
  expect(new Set(payers)).toEqual(new Set(['payer']));
  expect(await facilitator.feePayer()).toBe('payer');
  expect(questions).toBe(1);
});

it('is asked again by the next call if it did not say', async () => {
  kinds = [];
  const failed = await Promise.allSettled(Array.from({ length: 20 }, () => facilitator.feePayer()));
  expect(failed.every(({ status }) => status === 'rejected')).toBe(true);
  await expect(facilitator.feePayer()).rejects.toThrow(ChainAway);
  kinds = KINDS;
  expect(await facilitator.feePayer()).toBe('payer');
  expect(questions).toBe(3);
});
