import { Catalog } from '@svc/catalog';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestBackend, replying } from '../../test/backend.js';
import { catalogFile, patientRouter } from '../../test/routing.js';

describe('a backend that separates accounts in its cache', () => {
  let backend: TestBackend;
  beforeEach(async () => {
    backend = await TestBackend.start(replying({ choices: [{ index: 0, message: { content: 'a' } }] }));
  });
  afterEach(() => backend.close());

  /** The members that the backend gets of a chat. */
  async function sent(accountId: string, secrets: Readonly<Record<string, string>>): Promise<object> {
    const backends = [{ url: backend.url, model: 'x', cacheSaltEnv: 'SALT' }];
    const { router, stop } = patientRouter(new Catalog(catalogFile({ id: 'm', backends })), {
      secret: (name) => secrets[name],
    });
    const call = { requestId: 'r', accountId, model: 'm', body: [Buffer.from('{"n":1}')] };
    try {
      await router.complete(call, new AbortController().signal);
    } finally {
      await stop();
    }
    return JSON.parse(backend.requests.at(-1)?.body ?? '{}') as object;
  }

  it('gets the same salt for all chats of an account, from every router, and another for other accounts', async () => {
    const [first, again, other, elsewhere] = [
      await sent('account-1', { SALT: 'secret' }),
      await sent('account-1', { SALT: 'secret' }),
      await sent('account-2', { SALT: 'secret' }),
      await sent('account-1', { SALT: 'another secret' }),
    ];
    expect(first).toEqual({ model: 'x', cache_salt: expect.stringMatching(/^[\w-]{43}$/) as unknown, n: 1 });
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
    expect(elsewhere).not.toEqual(first);
    expect(JSON.stringify(first)).not.toContain('account');
  });

  it.each<Record<string, string>>([{}, { SALT: '' }])(
    'gets no chats without the secret: %j',
    async (secrets) => {
      await expect(sent('account-1', secrets)).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
      expect(backend.requests).toEqual([]);
    },
  );
});
