import { randomUUID } from 'node:crypto';
import { type AdmitRequest, DAY_MS } from '@svc/contracts/ports';
import { PROVISIONAL_MS } from '@svc/contracts/problems';
import { expect, it } from 'vitest';
import { type GivenRequest, type LimiterSubject, admitRequest } from './admit-request.js';

/** What every limiter says of refusals that other requests may undo. */
export function provisionalSuite(subject: () => LimiterSubject): void {
  /** Two requests of the same account, key and model. */
  const pair = (given: GivenRequest): [AdmitRequest, AdmitRequest] => {
    const first = admitRequest({ windowMs: DAY_MS, ...given });
    return [first, { ...first, requestId: randomUUID() }];
  };

  it.each<[string, GivenRequest]>([
    ['a limit of the account', { limits: { user: { requestsPerMinute: 1 } } }],
    ['a limit of the key', { limits: { api_key: { tokensPerMinute: 1 } } }],
    ['a limit of all accounts', { model: randomUUID(), limits: { global: { requestsPerMinute: 1 } } }],
    ['the number of concurrent requests', { concurrent: 1 }],
  ])('are those by %s while it was taken less than a second ago', async (_, given) => {
    const { limiter } = subject();
    const [first, second] = pair(given);
    const admission = await limiter.admit(first);
    expect(await limiter.admit(second)).toMatchObject({ admitted: false, isProvisional: true });
    await subject().pass(PROVISIONAL_MS + 1);
    const later = await limiter.admit(second);
    expect(later).toMatchObject({ admitted: false });
    expect(later).not.toHaveProperty('isProvisional');
    await limiter.release(first, admission);
    expect(await limiter.admit(second)).toMatchObject({ admitted: true });
  });

  it('are none after the requests in the way have ended', async () => {
    const { limiter } = subject();
    const [first, second] = pair({ limits: { user: { requestsPerMinute: 1 } } });
    await limiter.settle(first, await limiter.admit(first), {});
    const refused = await limiter.admit(second);
    expect(refused).toMatchObject({ admitted: false });
    expect(refused).not.toHaveProperty('isProvisional');
  });

  it('are none by a limit of another model than the one that was taken', async () => {
    const { limiter } = subject();
    const [first] = pair({ model: 'one' });
    await limiter.admit(first);
    const other = admitRequest({
      accountId: first.accountId,
      model: 'two',
      limits: { user: { requestsPerMinute: 0 } },
    });
    expect(await limiter.admit(other)).not.toHaveProperty('isProvisional');
  });
}
