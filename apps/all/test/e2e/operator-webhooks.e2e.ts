import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';
import { WebhookReceiver } from '../webhook-receiver.js';

let platform: Platform;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  platform = await Platform.start({
    env: {
      GATEWAY_WEBHOOK_PRIVATE_HOSTS: receiver.host,
      GATEWAY_WEBHOOK_KEY: 'key-of-the-webhooks-of-the-tests-of-the-platform',
    },
  });
});

afterAll(async () => {
  await platform.stop();
  receiver.stop();
});

interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

interface Delivery {
  readonly id: string;
  readonly state: string;
}

const operate = async <Body>(method: string, path: string, body?: object): Promise<Body> => {
  const { status, body: reply } = await platform.operator(method, `/webhook_endpoints${path}`, body);
  if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(reply)}`);
  return reply as Body;
};

it('an endpoint of the operator is tested, rotated, changed and deleted, apart from those of accounts', async () => {
  const { adminKey } = await AccountKeys.of(platform, '0');
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
  const endpoints = `${platform.apiUrl}/webhook_endpoints`;
  const body = JSON.stringify({ url: `${receiver.url}/own`, events: ['balance.low'] });
  const own = (await (await fetch(endpoints, { method: 'POST', headers, body })).json()) as Endpoint;
  const wanted = { url: `${receiver.url}/operator`, events: ['ledger.audit_failed'] };
  const { secret, ...made } = await operate<Endpoint>('POST', '', wanted);
  expect(await operate('GET', '')).toEqual({ object: 'list', data: [made] });
  expect((await fetch(`${endpoints}/${made.id}`, { headers })).status).toBe(404);
  await expect(operate('DELETE', `/${own.id}`)).rejects.toThrow('404');
  await operate('POST', `/${made.id}/test`);
  await eventually('it arrives', () => receiver.at('/operator').length > 0);
  const [first] = receiver.at('/operator');
  const received = [first?.body ?? '', first?.headers as Record<string, string>] as const;
  expect(new Webhook(secret).verify(...received)).toMatchObject({ type: 'webhook.test' });
  const rotated = await operate<Endpoint>('POST', `/${made.id}/rotate`, {});
  expect(rotated.secret).not.toBe(secret);
  const changed = await operate('PATCH', `/${made.id}`, { enabled: false, events: ['catalog.changed'] });
  expect(changed).toEqual({ ...made, state: 'disabled', events: ['catalog.changed'] });
  const deliveries = () => operate<{ data: Delivery[] }>('GET', `/${made.id}/deliveries`);
  await eventually('it is stored', async () => (await deliveries()).data[0]?.state === 'delivered');
  const { data } = await deliveries();
  expect(data).toMatchObject([{ eventType: 'webhook.test' }]);
  await operate('POST', `/${made.id}/deliveries/${data[0]?.id}/replay`);
  expect(await operate('DELETE', `/${made.id}`)).toEqual({ id: made.id, deleted: true });
});
