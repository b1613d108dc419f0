import type { ImageEdit, ImageOrder } from '@svc/contracts/inference';
import { describe, expect, it } from 'vitest';
import { type Reply, replying, silent } from './backend.js';
import { RouterFixture, type StartRouter } from './router-fixture.js';
import { eventually } from './routing.js';

const ORIGIN = { requestId: 'r', accountId: 'a', model: 'm' };
const ORDER: ImageOrder = { prompt: 'a lighthouse', count: 2, width: 64, height: 64, others: {} };

const EDIT: ImageEdit = {
  prompt: 'at night',
  count: 1,
  width: 64,
  height: 64,
  masked: false,
  others: { loras: ['x'], n: 9 },
};

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)]).toString('base64');
const JPEG = Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(100)]).toString('base64');
const data = (...images: readonly object[]): object => ({ data: images });

/** Responds to a GET with an image, and otherwise with the URL of one. */
const byUrl =
  (urlOf: (host: string) => string): Reply =>
  (response, request) => {
    const { socket } = response.req;
    if (response.req.method === 'GET') response.end(Buffer.from(PNG, 'base64'));
    else void replying(data({ url: urlOf(`127.0.0.1:${socket.localPort}`) }))(response, request);
  };

/** The guarantees of every implementation of the port `InferenceRouter` for images and edits of images. */
export function imageConformance(name: string, start: StartRouter): void {
  const fixture = new RouterFixture(start);

  const make = async (signal = new AbortController().signal): Promise<readonly string[]> => {
    const call = { ...ORIGIN, kind: 'image', order: ORDER } as const;
    return (await fixture.router.images.make(call, signal)).result.images;
  };

  describe(`images of ${name}`, () => {
    it('are in base64, and never more than ordered', async () => {
      await fixture.given(replying(data({ b64_json: PNG }, { b64_json: JPEG }, { b64_json: PNG })));
      expect(await make()).toEqual([PNG, JPEG]);
    });

    it.each([
      ['a data URL', () => `data:image/png;base64,${PNG}`],
      ['a path', () => '/files/x.png'],
      ['a URL of the backend', (host: string) => `http://${host}/files/x.png`],
    ])('may be given as %s', async (_, urlOf) => {
      await fixture.given(byUrl(urlOf));
      expect(await make()).toEqual([PNG]);
    });

    it.each([
      ['another host', byUrl(() => 'http://169.254.169.254/latest/meta-data')],
      ['another port', byUrl(() => 'http://127.0.0.1:1/x.png')],
      ['a file', byUrl(() => 'file:///etc/passwd')],
      ['a page', replying(data({ b64_json: Buffer.from('<!doctype html>').toString('base64') }))],
      ['nothing', replying({ data: [] })],
      ['an error', replying({ error: { message: 'broken' } })],
    ])('of the next backend replace %s', async (_, reply) => {
      await fixture.given(reply, replying(data({ b64_json: JPEG })));
      expect(await make()).toEqual([JPEG]);
      expect(fixture.backends.map(({ requests }) => requests.length)).toEqual([1, 1]);
    });

    it.each([400, 403, 422])('that violate a policy are not ordered elsewhere: %i', async (status) => {
      const refusal = { error: { message: 'no', code: 'content_policy_violation' } };
      await fixture.given(replying(refusal, status), replying(data({ b64_json: PNG })));
      await expect(make()).rejects.toMatchObject({ code: 'CONTENT_POLICY_VIOLATION', status: 422 });
      expect(fixture.backends[1]?.requests).toHaveLength(0);
    });

    it.each([
      [1, false, ['image']],
      [2, false, ['image[]', 'image[]']],
      [2, true, ['image', 'mask']],
      [3, true, ['image[]', 'image[]', 'mask']],
    ])('start from %i files as a form, masked %s', async (count, masked, names) => {
      await fixture.given(
        replying({ error: 'busy' }, 503),
        replying(data({ b64_json: PNG }, { b64_json: PNG })),
      );
      const files = Array.from({ length: count }, (_, index) => ({
        name: `${index}.png`,
        type: 'image/png',
        bytes: Buffer.from(`file ${index}`),
      }));
      const call = { ...ORIGIN, kind: 'image-edit', order: { ...EDIT, masked }, files } as const;
      const { signal } = new AbortController();
      const made = await fixture.router.images.make(call, signal);
      expect(made.result.images).toEqual([PNG]);
      for (const { requests } of fixture.backends) {
        const [sent] = requests;
        expect(sent?.url).toBe('/v1/images/edits');
        const parts = [...(sent?.body ?? '').matchAll(/; name="([^"]*)"(?:; filename="([^"]*)")?/g)];
        const ofFiles = parts.filter(([, , file]) => file !== undefined);
        expect(ofFiles.map(([, name]) => name)).toEqual(names);
        expect(ofFiles.map(([, , file]) => file)).toEqual(files.map(({ name }) => name));
        expect(parts.filter(([, name]) => name === 'n')).toHaveLength(1);
        for (const { bytes } of files) expect(sent?.body).toContain(bytes.toString());
      }
    });

    it('are not edited without an image', async () => {
      await fixture.given(replying(data({ b64_json: PNG })));
      const call = { ...ORIGIN, kind: 'image-edit', order: EDIT, files: [] } as const;
      await expect(fixture.router.images.make(call, new AbortController().signal)).rejects.toMatchObject({
        code: 'INVALID_REQUEST',
      });
      expect(fixture.backends[0]?.requests).toHaveLength(0);
    });

    it.each(['image-upscale', 'image-cutout'] as const)(
      'are not changed without an image: %s',
      async (kind) => {
        await fixture.given(replying(data({ b64_json: PNG })));
        const call = { ...ORIGIN, kind, order: { count: 1, factor: 2 }, files: [] } as const;
        await expect(fixture.router.images.make(call, new AbortController().signal)).rejects.toMatchObject({
          code: 'INVALID_REQUEST',
        });
        expect(fixture.backends[0]?.requests).toHaveLength(0);
      },
    );

    it('are limited in size', async () => {
      await fixture.given(replying(data({ b64_json: PNG + 'A'.repeat(2_000_000) })));
      await expect(make()).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
    });

    it('are no longer made once their caller leaves', async () => {
      await fixture.given(silent);
      const leaving = new AbortController();
      const made = make(leaving.signal);
      await eventually('the backend works', () => fixture.backends[0]?.requests.length === 1);
      leaving.abort();
      await expect(made).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
      await eventually('the call is closed', () => fixture.backends[0]?.cut === 1);
    });
  });
}
