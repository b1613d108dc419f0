import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { Charges } from '@svc/contracts/ports';
import { usageRecorded } from '@svc/contracts/messages';
import { type TestRedis, startTestDatabase, startTestRedis, withRedis } from '@svc/storage/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgetHolds, startOverHttp, startShared } from '../test/shared-ledgers.js';
import { booksConformance } from '../test/books.conformance.js';
import { endUsersConformance } from '../test/end-users.conformance.js';
import { ledgerConformance } from '../test/ledger.conformance.js';
import { chargeOf, requestOf, usd } from '../test/testing.js';
import { stakingConformance } from '../test/staking.conformance.js';
import { usageHistoryConformance } from '../test/usage-history.conformance.js';

const { skipped, note } = withRedis();

describe.skipIf(skipped)(`the ledger of several processes${note}`, () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(() => redis?.stop());

  ledgerConformance(
    'with its holds on Redis',
    (ledger) => ledger,
    async (options) => {
      await forgetHolds(redis.url);
      return startShared(redis, options);
    },
  );
  stakingConformance({
    name: 'its stakes with holds on Redis',
    begin: () => forgetHolds(redis.url),
    start: (options) => startShared(redis, options),
  });
  ledgerConformance(
    'over HTTP',
    (ledger) => ledger,
    (options) => startOverHttp(redis, options),
  );
  booksConformance(
    'its books over HTTP',
    (books) => books,
    (options) => startOverHttp(redis, options),
  );
  for (const conformance of [usageHistoryConformance, endUsersConformance])
    conformance(
      'its history over HTTP',
      (history) => history,
      (options) => startOverHttp(redis, options),
    );

  it('takes credits with posting off, and posts the waiting charges once it is on', async () => {
    await forgetHolds(redis.url);
    const database = await startTestDatabase();
    const accountId = randomUUID();
    try {
      const paused = await startShared(redis, { url: database.url, config: { LEDGER_POSTING: 'off' } });
      const charge = chargeOf(accountId, usd(3));
      await paused.log.publish(usageRecorded, charge);
      await paused.books.credit({ accountId, usdNano: usd(5), reference: 'again' });
      expect(await paused.books.balances(accountId)).toEqual({ usdNano: usd(5), diemNano: 0n });
      await paused.books.setStake(accountId, usd(2));
      const unavailable = { code: 'UNAVAILABLE' };
      await expect(paused.ledger.hold(requestOf(accountId, 1n))).rejects.toMatchObject(unavailable);
      const charges = paused.app.get(Charges, { strict: false });
      await expect(charges.post([charge])).rejects.toMatchObject(unavailable);
      await expect(charges.giveBack(charge)).rejects.toMatchObject(unavailable);
      expect(await paused.books.audit('whole')).toMatchObject({ ok: true, charges: 0 });
      await paused.stop();

      const running = await startShared(redis, { url: database.url });
      const hold = await running.ledger.hold(requestOf(accountId, 1n));
      expect(hold.before).toEqual({ usdNano: usd(2), diemNano: usd(2) });
      expect(await running.books.balances(accountId)).toEqual({ usdNano: usd(2), diemNano: usd(2) });
      expect(await running.books.audit('whole')).toMatchObject({ ok: true, charges: 1 });
      await running.stop();
    } finally {
      await database.stop();
    }
  });

  it('is connected to Redis once it has started, however slow the connection', async () => {
    const database = await startTestDatabase();
    const slow = createServer((client) => {
      const { hostname, port } = new URL(redis.url);
      setTimeout(() => {
        const server = connect(Number(port), hostname);
        client.pipe(server).pipe(client);
        server.on('error', () => client.destroy());
        client.on('error', () => server.destroy());
      }, 300);
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const url = `redis://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const running = await startShared({ url }, { url: database.url });
    try {
      await expect(running.holdBook.available(randomUUID())).resolves.toBeDefined();
    } finally {
      await running.stop();
      slow.close();
      await database.stop();
    }
  });
});
