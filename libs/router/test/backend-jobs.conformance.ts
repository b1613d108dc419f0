import type { JobCall } from '@svc/contracts/inference';
import { describe, expect, it } from 'vitest';
import { type Reply, replying } from './backend.js';
import { RouterFixture, type StartRouter } from './router-fixture.js';
import { collect } from './routing.js';

const ORIGIN = { requestId: 'r', accountId: 'a', model: 'm' };
const ORDER = { prompt: 'a cat', seconds: 4, fields: { style: 'x' }, others: { seed: '1', steps: '9' } };
const { signal } = new AbortController();

/** The guarantees of every implementation of the port `BackendJobs`. */
export function backendJobConformance(name: string, start: StartRouter): void {
  const fixture = new RouterFixture(start);

  const submit = () => fixture.router.jobs.submit({ ...ORIGIN, order: ORDER }, signal);
  const about = (job = 'job/1', backend = 'backend-2'): JobCall => ({ ...ORIGIN, backend, job });
  const requests = () => fixture.backends.map(({ requests: received }) => received.map(({ url }) => url));

  describe(`jobs of ${name}`, () => {
    it('are submitted to the next backend after a rejection, with the fields that are known', async () => {
      await fixture.given(replying({}, 429), replying({ id: 'job-1', status: 'queued' }));
      expect(await submit()).toEqual({ backend: 'backend-2', retries: 1, result: { job: 'job-1' } });
      const sent = fixture.backends[1]?.requests[0]?.body ?? '';
      for (const part of ['a cat', 'name="style"', 'name="seed"', 'backend-1']) expect(sent).toContain(part);
      expect(sent).not.toContain('name="steps"');
    });

    it.each([
      ['an error', replying({}, 500), 'INFERENCE_FAILED'],
      ['a timeout', replying({}, 408), 'REQUEST_TIMEOUT'],
      ['the end of the connection', (response) => void response.destroy(), 'INFERENCE_FAILED'],
      ['a response without an id', replying({}), 'INFERENCE_FAILED'],
    ] as readonly [string, Reply, string][])(
      'are submitted to no other backend after %s, since the first may have them',
      async (_, reply, code) => {
        await fixture.given(reply, replying({ id: 'job-1', status: 'queued' }));
        await expect(submit()).rejects.toMatchObject({ code });
        expect(fixture.backends[1]?.requests).toEqual([]);
      },
    );

    it('are asked about at the backend that has them, and nowhere else', async () => {
      await fixture.given(replying({}, 500), replying({ id: 'job/1', status: 'completed' }));
      const { result } = await fixture.router.jobs.status(about(), signal);
      expect(result).toEqual({ state: 'completed' });
      await fixture.router.jobs.cancel(about(), signal);
      const content = await fixture.router.jobs.content(about(), signal);
      expect(await collect(content)).toContain('completed');
      const path = '/v1/videos/job%2F1';
      expect(requests()).toEqual([[], [path, path, `${path}/content`]]);
      await expect(fixture.router.jobs.status(about('job/1', 'backend-3'), signal)).rejects.toMatchObject({
        code: 'MODEL_OFFLINE',
      });
    });

    it('fail with a reason that has no addresses', async () => {
      const error = { code: 'content_policy_violation', message: 'no faces (10.0.0.1:8000, /srv/models/x)' };
      await fixture.given(replying({ id: 'job/1', status: 'failed', error }));
      const { result } = await fixture.router.jobs.status(about('job/1', 'backend-1'), signal);
      expect(result).toMatchObject({ state: 'failed', isRefused: true });
      expect(result.message).toContain('no faces');
      expect(result.message).not.toMatch(/10\.0|srv/);
    });

    it.each([404, 409])('that are not there any more need no end: %i', async (status) => {
      await fixture.given(replying({}, status));
      expect(await fixture.router.jobs.cancel(about('job/1', 'backend-1'), signal)).toMatchObject({
        retries: 0,
      });
    });
  });
}
