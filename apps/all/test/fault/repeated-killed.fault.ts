import { randomUUID } from 'node:crypto';
import { repeats } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';

const KILLS = repeats('KILLS_OF_REPEATED');
const REQUESTS = 40;

/** Between the first tokens of two requests, so that those under way have come differently far. */
const STEP_MS = 10;

let platform: Platform;

beforeAll(async () => (platform = await Platform.start()));
afterAll(() => platform.stop());

interface Made {
  readonly status: number;
  readonly text: string;
}

it(
  'requests with a key whose gateway is killed under way are charged once each, and get a response when repeated',
  { timeout: 60_000 + KILLS * 60_000 },
  async () => {
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const { id, apiKey } = await platform.account('5.00');
      const keys: readonly string[] = Array.from({ length: REQUESTS }, () => randomUUID());
      const send = async (key: string): Promise<Made> => {
        const content = `hi [[sim ttft-ms=${(keys.indexOf(key) + 1) * STEP_MS}]]`;
        const body = { model: 'test-model', messages: [{ role: 'user', content }] };
        const response = await platform.chat(apiKey, body, { headers: { 'idempotency-key': key } });
        return { status: response.status, text: await response.text() };
      };
      let ended = 0;
      const firsts = await Promise.all(
        keys.map(async (key) => {
          const first = await send(key).catch(() => undefined);
          if (first && (ended += 1) === REQUESTS / 2) await platform.kill();
          return first;
        }),
      );
      expect(firsts).toContain(undefined);

      await platform.restart();
      const repeated = await Promise.all(
        keys.map(async (key) => {
          let made = await send(key);
          await eventually('the lease of the killed process has ended', async () => {
            if (made.status === 409) made = await send(key);
            return made.status !== 409;
          });
          return made;
        }),
      );
      const whole = { status: 200, text: expect.any(String) as string };
      expect(repeated).toEqual(firsts.map((first) => first ?? whole));

      // A charge of the killed process whose response was not stored yet has been given back.
      const charges = async (): Promise<{ reference: string }[]> => {
        const { body } = await platform.operator('GET', `/accounts/${id}/transfers?limit=1000`);
        const transfers = body['data'] as { kind: string; reference: string }[];
        const ofKind = (wanted: string) => transfers.filter(({ kind }) => kind === wanted);
        const returned = new Set(ofKind('refund').map(({ reference }) => reference));
        return ofKind('charge').filter(({ reference }) => !returned.has(`never charged: ${reference}`));
      };
      await eventually('all are posted', async () => (await charges()).length >= REQUESTS);
      expect(new Set((await charges()).map(({ reference }) => reference)).size).toBe(REQUESTS);
      expect(await charges()).toHaveLength(REQUESTS);
      expect(await platform.audit()).toMatchObject({ body: { ok: true } });
    }
  },
);
