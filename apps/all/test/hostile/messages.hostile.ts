import { afterAll, beforeAll, expect, it } from 'vitest';
import { GROWTH_MS, doublings, growthFaults } from './growth.js';
import { decent, ending, piece } from './hostile-backend.js';
import { HostileHarness } from './harness.js';

let harness: HostileHarness;

beforeAll(async () => {
  harness = await HostileHarness.start();
});

afterAll(async () => {
  await harness.stop();
});

it('takes time proportional to the length of a message', { timeout: GROWTH_MS }, async () => {
  harness.backend.behave = decent();
  const faults = await growthFaults(harness.probe, doublings(8_000_000), async (size) => {
    const { status } = await harness.say('lorem ipsum '.repeat(size / 12) || 'x', { max_tokens: 1 });
    expect([200, 400]).toContain(status);
  });
  expect(faults).toEqual([]);
});

it('charges the delivered part of a cut stream, once, and holds nothing', async () => {
  harness.backend.behave = ({ response }) => {
    response.write(piece('one ').repeat(100));
    setTimeout(() => response.destroy(), 50);
  };
  const answer = await harness.say('count', { stream: true });
  expect(answer.error ?? answer.text).toContain('INFERENCE_FAILED');
  harness.backend.behave = ({ response }) => {
    response.write(piece('one '));
    response.end(ending());
  };
  await harness.say('count', { stream: true });
  expect(await harness.afterwards()).toEqual([]);
});
