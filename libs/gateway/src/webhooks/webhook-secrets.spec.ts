import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { WebhookSecrets, secretText, signatures } from './webhook-secrets.js';

const KEY = 'a key of the operator with at least 32 characters';
const OTHER = 'another key of the operator, with 32 characters';
const id = randomUUID();

describe('the secrets of webhooks', () => {
  it('are stored encrypted, for one endpoint', () => {
    const secrets = new WebhookSecrets(KEY);
    const { secret, sealed } = secrets.make(id);
    expect(sealed.includes(secret)).toBe(false);
    expect(secrets.open(sealed, id)).toEqual(secret);
    expect(() => secrets.open(sealed, randomUUID())).toThrow(/authenticate/);
    expect(() => new WebhookSecrets(OTHER).open(sealed, id)).toThrow(/authenticate/);
  });

  it('survive a rotation of the key', () => {
    const { secret, sealed } = new WebhookSecrets(KEY).make(id);
    expect(new WebhookSecrets(KEY, OTHER).open(sealed, id)).toEqual(secret);
    const again = new WebhookSecrets(OTHER, KEY).sealAgain(sealed, id);
    expect(new WebhookSecrets(OTHER).open(again, id)).toEqual(secret);
  });

  it('are not made without a key', () => {
    expect(() => new WebhookSecrets(undefined).make(id)).toThrow(
      expect.objectContaining({ code: 'WEBHOOKS_NOT_CONFIGURED' }) as Error,
    );
  });

  it('sign as Standard Webhooks describes, each with a signature of its own', () => {
    const [first, second] = [new WebhookSecrets(KEY).make(id), new WebhookSecrets(KEY).make(id)];
    const parts = { id: 'evt_1', timestamp: Math.floor(Date.now() / 1_000), body: '{"é":1}' };
    const headers = {
      'webhook-id': parts.id,
      'webhook-timestamp': String(parts.timestamp),
      'webhook-signature': signatures(parts, [first.secret, second.secret]),
    };
    for (const { secret } of [first, second])
      expect(new Webhook(secretText(secret)).verify(parts.body, headers)).toEqual({ é: 1 });
    expect(() => new Webhook(secretText(first.secret)).verify('{"é":2}', headers)).toThrow(/signature/i);
  });
});
