import { Mailbox } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AccountKeys } from '../account-keys.js';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';

let platform: Platform;
let mailbox: Mailbox;
let keys: AccountKeys;

beforeAll(async () => {
  mailbox = await Mailbox.start();
  platform = await Platform.start({
    env: {
      GATEWAY_WEBHOOK_KEY: 'key-of-the-webhooks-of-the-tests-of-the-platform',
      GATEWAY_SMTP_HOST: '127.0.0.1',
      GATEWAY_SMTP_PORT: String(mailbox.port),
      GATEWAY_SMTP_TLS: 'off',
      GATEWAY_SMTP_FROM: 'notices@svc.example',
    },
  });
  keys = await AccountKeys.of(platform, '0');
});

afterAll(async () => {
  await platform.stop();
  await mailbox.stop();
});

interface ReplyBody extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly data: readonly { readonly id: string }[];
}

interface Reply {
  readonly status: number;
  readonly body: ReplyBody;
}

async function call(method: string, path: string, body?: object): Promise<Reply> {
  const response = await fetch(`${platform.apiUrl}/webhook_endpoints${path}`, {
    method,
    headers: { authorization: `Bearer ${keys.adminKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as ReplyBody };
}

it('an e-mail address is notified once its code is confirmed', async () => {
  const wanted = { url: 'mailto:ann@customer.example', events: ['refund.created'] };
  const { status, body: made } = await call('POST', '', wanted);
  expect([status, made]).toMatchObject([200, { ...wanted, state: 'unconfirmed', secret: null }]);
  await eventually('the code arrives', () => mailbox.mails.length === 1);
  const [, code] = /The code is: (\S+)/.exec(mailbox.texts()[0] ?? '') ?? [];
  const wrong = await call('POST', `/${made.id}/confirm`, { code: '0000-0000' });
  expect(wrong.status).toBe(400);
  expect(await call('POST', `/${made.id}/confirm`, { code })).toMatchObject({
    body: { state: 'enabled' },
  });
  await call('POST', `/${made.id}/test`);
  await eventually('the test arrives', () => mailbox.mails.length === 2);
  expect(mailbox.texts()[1]).toContain('Subject: A test of your notices\n');
  expect(mailbox.mails[1]).toMatchObject({ from: 'notices@svc.example', to: ['ann@customer.example'] });
  expect((await call('POST', `/${made.id}/rotate`, {})).status).toBe(400);
  expect((await call('PATCH', `/${made.id}`, { url: 'https://customer.example' })).status).toBe(400);
});

it('a mailbox gets three codes a day, whatever asks for them', async () => {
  const { body: made } = await call('POST', '', { url: 'mailto:bob@customer.example', events: [] });
  expect((await call('POST', `/${made.id}/test`)).status).toBe(200);
  const { body: list } = await call('GET', `/${made.id}/deliveries`);
  const [{ id: deliveryId } = { id: '' }] = list.data;
  expect((await call('POST', `/${made.id}/deliveries/${deliveryId}/replay`)).status).toBe(200);
  const refused = await call('POST', '', { url: 'mailto:Bob+1@customer.example', events: [] });
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'TOO_MANY_CONFIRMATION_MAILS' } } });
  expect((await call('POST', `/${made.id}/test`)).status).toBe(429);
});

it('operators have servers as endpoints, and no e-mail addresses', async () => {
  const body = { url: 'mailto:ops@svc.example', events: ['ledger.audit_failed'] };
  expect((await platform.operator('POST', '/webhook_endpoints', body)).status).toBe(400);
});
