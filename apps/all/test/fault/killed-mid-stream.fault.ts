import { isLong } from '@svc/testing';
import { expect, it } from 'vitest';
import { chunksOf, eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';

const STREAMS = 50;

interface Seen {
  readonly requestId: string;
  /** The cost that the client received; `undefined` if it never received the end. */
  readonly costNano: number | undefined;
}

it.runIf(isLong)(
  'kill -9 during 50 streams loses no charge of a finished response, and doubles none',
  { timeout: 180_000 },
  async () => {
    const platform = await Platform.start();
    try {
      const { id, apiKey } = await platform.account('10.00');
      let begun = 0;
      const streams = Array.from({ length: STREAMS }, async (_, index): Promise<Seen> => {
        // Half of the streams end before the process is killed, and half do not, regardless of the machine's
        // speed.
        const settings = index < STREAMS / 2 ? `tokens=${1 + index * 4} itl-ms=5` : 'tokens=5000 itl-ms=100';
        const messages = [{ role: 'user', content: `go [[sim ${settings}]]` }];
        const response = await platform.chat(apiKey, { model: 'test-model', messages, stream: true });
        begun += 1;
        const requestId = response.headers.get('x-request-id') ?? '';
        const { chunks, done } = await chunksOf(response).catch(() => ({ chunks: [], done: false }));
        const cost = done ? chunks.at(-1)?.cost : undefined;
        return { requestId, costNano: cost && Math.round(cost.usd * 1e9) };
      });
      await Promise.all(streams.slice(0, STREAMS / 2));
      await eventually('all streams have begun', async () => begun === STREAMS);
      platform.service.signal('SIGKILL');
      const seen = await Promise.all(streams);
      await platform.restart();

      const { body } = await platform.operator('GET', `/accounts/${id}/transfers?limit=1000`);
      const charges = (body['data'] as { kind: string; reference: string; amount: string }[]).filter(
        ({ kind }) => kind === 'charge',
      );
      const charged = new Map(
        charges.map(({ reference, amount }) => [reference, Math.round(Number(amount) * 1e9)]),
      );
      const ended = seen.filter(({ costNano }) => costNano !== undefined);
      expect(ended.length).toBe(STREAMS / 2);
      for (const { requestId, costNano } of ended) expect(charged.get(requestId)).toBe(costNano);
      expect(charges.length).toBe(charged.size);
      expect(await platform.audit()).toMatchObject({ body: { ok: true } });
      // No hold is left: all money that was not charged can be spent.
      const { usd } = await platform.balances(id);
      const spent = charges.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 1e9), 0);
      expect(Math.round(Number(usd) * 1e9)).toBe(10e9 - spent);
      const next = await platform.chat(apiKey, {
        model: 'test-model',
        messages: [{ role: 'user', content: 'hi' }],
      });
      expect(next.headers.get('x-svc-balance-usd')).toBe(usd);
    } finally {
      await platform.stop();
    }
  },
);
