import { setTimeout as sleep } from 'node:timers/promises';
import { repeats } from '@svc/testing';
import { expect, it, onTestFinished } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { ownPlatform } from '../own-platform.js';
import type { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';
import { WebhookReceiver } from '../webhook-receiver.js';

const KILLS = repeats('KILLS_OF_WEBHOOKS');

/** A receiver, and a platform that may deliver to it and whose model is dear. */
async function started(): Promise<{ receiver: WebhookReceiver; platform: Platform }> {
  const receiver = await WebhookReceiver.start();
  onTestFinished(() => receiver.stop());
  const platform = await ownPlatform({
    env: { GATEWAY_WEBHOOK_PRIVATE_HOSTS: receiver.host },
    models: [{ id: 'dear', pricing: { input: 100_000, output: 100_000 } }],
  });
  return { receiver, platform };
}

/** Makes requests with a key, which must succeed. */
function caller({ apiUrl }: Platform, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return async (method: string, path: string, body: object): Promise<void> => {
    const response = await fetch(`${apiUrl}${path}`, { method, headers, body: JSON.stringify(body) });
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  };
}

it(
  'an event is delivered with one id, whenever the process is killed after its charge',
  async () => {
    const { receiver, platform } = await started();
    for (let round = 0; round < KILLS; round += 1) {
      const { account, adminKey } = await AccountKeys.of(platform, '10.00');
      const call = caller(platform, adminKey);
      const path = `/killed/${round}`;
      await call('POST', '/webhook_endpoints', { url: receiver.url + path, events: ['balance.low'] });
      await call('PUT', '/alerts', { alerts: [{ type: 'balance.low', currency: 'USD', amount: 9.9 }] });
      const chat = { model: 'dear', messages: [{ role: 'user', content: 'hi' }], max_tokens: 16 };
      const response = await platform.chat(account.apiKey, chat);
      expect(response.status).toBe(200);
      await response.text();
      await sleep(round * 20);
      await platform.kill();
      await platform.restart();
      await eventually('it is delivered', () => receiver.at(path).length > 0);
      expect(new Set(receiver.at(path).map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    }
  },
  60_000 + KILLS * 60_000,
);

it('an event is sent again under its id if the process is killed after it was sent, before its outcome is stored', async () => {
  const { receiver, platform } = await started();
  const { adminKey } = await AccountKeys.of(platform);
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  const endpoints = `${platform.apiUrl}/webhook_endpoints`;
  const body = JSON.stringify({ url: `${receiver.url}/hang`, events: [] });
  const made = await fetch(endpoints, { method: 'POST', headers, body });
  const { id } = (await made.json()) as { id: string };
  expect((await fetch(`${endpoints}/${id}/test`, { method: 'POST', headers })).status).toBe(200);
  // Its server does not respond, so the process waits for the outcome when it is killed.
  await eventually('it is sent', () => receiver.at('/hang').length === 1);
  await platform.kill();
  await platform.restart();
  // Once the lease of the killed process has ended.
  await eventually('it is sent again', () => receiver.at('/hang').length === 2);
  const ids = receiver.at('/hang').map((each) => each.headers['webhook-id']);
  expect(new Set(ids).size).toBe(1);
}, 180_000);

const THRESHOLDS = 100;

it(
  'each of a hundred amounts is notified under one id, whenever the process is killed between charges at the same time',
  async () => {
    const { receiver, platform } = await started();
    const { account, adminKey } = await AccountKeys.of(platform, '1000.00');
    const call = caller(platform, adminKey);
    const types = ['balance.low', 'end_user.spend_threshold'];
    await call('POST', '/webhook_endpoints', { url: `${receiver.url}/amounts`, events: types });
    // A hundredth of a dollar apart, from the first charge on.
    const alerts = Array.from({ length: THRESHOLDS }, (_, index) => {
      const amount = (index + 1) / 100;
      return index % 2 === 0
        ? { type: 'balance.low', currency: 'USD', amount: 1_000 - amount }
        : { type: 'end_user.spend_threshold', endUser: 'alice', period: 'MONTH', currency: 'USD', amount };
    });
    await call('PUT', '/alerts', { alerts });
    const chat = {
      model: 'dear',
      messages: [{ role: 'user', content: 'hi' }],
      max_tokens: 16,
      user: 'alice',
    };
    const spend = async (): Promise<void> => {
      const response = await platform.chat(account.apiKey, chat);
      await response.text();
    };
    for (let round = 0; round < KILLS; round += 1) {
      const spending = Array.from({ length: 8 }, () => spend().catch(() => undefined));
      await sleep(50 + round * 100);
      await platform.kill();
      await Promise.all(spending);
      await platform.restart();
    }
    // Until everything is spent that an alert is for.
    await eventually('all amounts are spent', async () => {
      await spend();
      return Number((await platform.balances(account.id)).usd) < 999;
    });
    const sent = () =>
      receiver.at('/amounts').map(({ headers: { 'webhook-id': id }, body }) => {
        const { type, data } = JSON.parse(body) as { type: string; data: { amount: number } };
        return { id, name: `${type} ${data.amount}` };
      });
    const wanted = alerts.map(({ type, amount }) => `${type} ${amount}`).toSorted();
    await eventually(
      'all are delivered',
      () => new Set(sent().map(({ name }) => name)).size === wanted.length,
    );
    const byId = new Map(sent().map(({ id, name }) => [id, name]));
    expect([...byId.values()].toSorted()).toEqual(wanted);
  },
  120_000 + KILLS * 60_000,
);
