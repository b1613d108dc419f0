import { readFile, writeFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { ownPlatform } from '../own-platform.js';
import { eventually } from '../response-bodies.js';
import { WebhookReceiver } from '../webhook-receiver.js';

const REASON = 'New driver';

interface Content {
  readonly models: { pricing: { input: number } }[];
}

it('the operator is notified of a paused backend, of a changed and of a broken catalogue', async () => {
  const receiver = await WebhookReceiver.start();
  onTestFinished(() => receiver.stop());
  const platform = await ownPlatform({
    env: {
      GATEWAY_WEBHOOK_PRIVATE_HOSTS: receiver.host,
      GATEWAY_WEBHOOK_KEY: 'key-of-the-webhooks-of-the-tests-of-the-platform',
    },
  });
  const events = ['backend.paused', 'catalog.changed', 'catalog.refused'];
  await platform.operator('POST', '/webhook_endpoints', { url: `${receiver.url}/operator`, events });
  const path = '/backends/test-model/backend-1/state';
  expect((await platform.operator('PUT', path, { state: 'off', reason: REASON })).status).toBe(200);
  /** The job looks every two minutes, and when a process starts. */
  const restarted = async (change?: (content: Content) => string): Promise<void> => {
    await platform.service.stop();
    const file = platform.env['SVC_CATALOG'] ?? '';
    if (change) await writeFile(file, change(parse(await readFile(file, 'utf8')) as Content));
    await platform.restart();
  };
  const dataOf = async (type: string): Promise<unknown> => {
    await eventually(`${type} arrives`, () => receiver.at('/operator', type).length > 0);
    return (JSON.parse(receiver.at('/operator', type)[0]?.body ?? '{}') as { data?: unknown }).data;
  };
  await restarted();
  expect(await dataOf('backend.paused')).toMatchObject({
    model: 'test-model',
    backend: 'backend-1',
    state: 'off',
    reason: REASON,
  });
  await restarted((content) => {
    for (const { pricing } of content.models) pricing.input *= 2;
    return stringify(content);
  });
  const { hash } = (await platform.operator('GET', '/catalog')).body;
  await eventually('the new catalogue arrives', () =>
    receiver.at('/operator', 'catalog.changed').some(({ body }) => body.includes(String(hash))),
  );
  await restarted(() => 'models: [');
  expect(await dataOf('catalog.refused')).toMatchObject({ hash: null });
  expect(new Set(receiver.at('/operator', 'backend.paused').map(({ body }) => body)).size).toBe(1);
}, 120_000);
