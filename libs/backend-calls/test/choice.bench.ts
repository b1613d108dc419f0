// The CPU time of a choice: `npm run bench:router -- choice`.
import { Backend } from '@svc/contracts/catalog';
import { expect, it } from 'vitest';
import { BackendPool } from '../src/backend-pool.js';
import { workOf } from '../src/call-work.js';

const SERVERS = 16;
const PROMPTS = 64;
const CHOICES = 20_000;
/** About 32,000 tokens. */
const PROMPT_CHARACTERS = 128_000;

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

it('of one of 16 servers for a prompt of 32,000 tokens', async () => {
  const pool = new BackendPool(5_000, undefined);
  const backends = Array.from({ length: SERVERS }, (_, at) =>
    Backend.parse({ name: `server-${at}`, url: `http://server-${at}/v1`, model: 'm' }),
  );
  const calls = Array.from({ length: PROMPTS }, (_, at) => {
    const content = `Prompt ${at}: `.padEnd(PROMPT_CHARACTERS, `sentence ${at} of it, `);
    const body = [Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }))];
    return { requestId: 'r', accountId: `account ${at % 8}`, model: 'm', body, backends };
  });
  const choose = (number: number): void => {
    const call = calls[number % PROMPTS];
    if (!call) return;
    const work = workOf(call, true);
    const [live] = pool.candidates(backends, call, work);
    // Its prompt is in the cache of the chosen server from then on.
    if (live && work && number < PROMPTS) live.work.answered(live.work.begin(work, 0), 1);
  };
  const micros: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const cpu = process.cpuUsage();
    for (let number = 0; number < CHOICES / 20; number += 1) choose(round === 0 ? number : number + PROMPTS);
    const { user, system } = process.cpuUsage(cpu);
    micros.push((user + system) / (CHOICES / 20));
  }
  console.log(
    `${median(micros.slice(2)).toFixed(1)} µs of CPU for a choice, median of ${micros.length - 2} runs`,
  );
  await pool.close();
  expect(micros).toHaveLength(20);
});
