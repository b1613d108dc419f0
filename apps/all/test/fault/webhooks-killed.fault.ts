import { setTimeout as sleep } from 'node:timers/promises';
import { repeats } from '@svc/testing';
import { expect, it, onTestFinished } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { ownPlatform } from '../own-platform.js';
import { eventually } from '../response-bodies.js';
import { WebhookReceiver } from '../webhook-receiver.js';

const KILLS = repeats('KILLS_OF_WEBHOOKS');

it(
  'an event is delivered with one id, whenever the process is killed after its charge',
  async () => {
    const receiver = await WebhookReceiver.start();
    onTestFinished(() => receiver.stop());
    const platform = await ownPlatform({
      env: { GATEWAY_WEBHOOK_PRIVATE_HOSTS: receiver.host },
      models: [{ id: 'dear', pricing: { input: 100_000, output: 100_000 } }],
    });
    for (let round = 0; round < KILLS; round += 1) {
      const { account, adminKey } = await AccountKeys.of(platform, '10.00');
      const call = async (method: string, path: string, body: object): Promise<void> => {
        const response = await fetch(`${platform.apiUrl}${path}`, {
          method,
          headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        expect(response.status).toBe(200);
        await response.text();
      };
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
