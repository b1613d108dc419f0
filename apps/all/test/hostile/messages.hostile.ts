import { afterAll, beforeAll, expect, it } from 'vitest';
import { GROWTH_MS, doublings, growthFaults } from './growth.js';
import { decent, ending, piece } from './hostile-backend.js';
import { Stage } from './stage.js';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.start();
});

afterAll(async () => {
  await stage.stop();
});

it('takes time proportional to the length of a message', { timeout: GROWTH_MS }, async () => {
  stage.backend.behave = decent();
  const faults = await growthFaults(stage.probe, doublings(8_000_000), async (size) => {
    const { status } = await stage.say('lorem ipsum '.repeat(size / 12) || 'x', { max_tokens: 1 });
    expect([200, 400]).toContain(status);
  });
  expect(faults).toEqual([]);
});

it('charges the delivered part of a cut stream, once, and holds nothing', async () => {
  stage.backend.behave = ({ response }) => {
    response.write(piece('one ').repeat(100));
    setTimeout(() => response.destroy(), 50);
  };
  const answer = await stage.say('count', { stream: true });
  expect(answer.error ?? answer.text).toContain('INFERENCE_FAILED');
  stage.backend.behave = ({ response }) => {
    response.write(piece('one '));
    response.end(ending());
  };
  await stage.say('count', { stream: true });
  expect(await stage.afterwards()).toEqual([]);
});
