import { Catalog } from '@svc/catalog';
import type { ImageOrder } from '@svc/contracts/inference';
import { COMFY_WORKFLOW, ComfyServer } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RouterFixture, type StartRouter } from './router-fixture.js';
import { catalogFile, eventually } from './routing.js';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100)]);
const ORDER: ImageOrder = {
  prompt: 'a "lighthouse"',
  count: 2,
  width: 64,
  height: 96,
  others: { steps: 99 },
};

/** The guarantees of every implementation of the port `InferenceRouter` for images of ComfyUI. */
export function comfyConformance(name: string, start: StartRouter): void {
  let servers: [ComfyServer, ComfyServer];
  const fixture = new RouterFixture(start);

  const make = async (
    order: Partial<ImageOrder> = {},
    signal = new AbortController().signal,
  ): Promise<readonly string[]> => {
    const origin = { requestId: 'r', accountId: 'a', model: 'm' };
    const call = { ...origin, kind: 'image', order: { ...ORDER, ...order } } as const;
    return (await fixture.router.images.make(call, signal)).result.images;
  };
  const inputs = (node: string) => servers[0].graphs.at(-1)?.[node]?.inputs;

  describe(`images of ComfyUI by ${name}`, () => {
    beforeEach(async () => {
      servers = [await ComfyServer.start(PNG), await ComfyServer.start(PNG)];
      const backends = servers.map(({ url }, at) => ({
        kind: 'comfyui',
        url,
        model: 'sd.safetensors',
        workflow: COMFY_WORKFLOW,
        maxInFlight: 1,
        weight: 1e-9 ** at,
      }));
      await fixture.begin(new Catalog(catalogFile({ id: 'm', backends })));
    });
    afterEach(() => Promise.all(servers.map((server) => server.close())));

    it('are made by the workflow with the values of the request, and nothing is left of it', async () => {
      const images = await make({ negativePrompt: 'fog', guidance: 3.5, seed: -1 });
      expect(images).toEqual([PNG, PNG].map((image) => image.toString('base64')));
      expect(inputs('3')).toEqual({
        ...COMFY_WORKFLOW[3].inputs,
        seed: 2 ** 32 - 1,
        steps: 20,
        cfg: 3.5,
      });
      expect(inputs('4')).toEqual({ ckpt_name: 'sd.safetensors' });
      expect(inputs('5')).toEqual({ width: 64, height: 96, batch_size: 2 });
      expect(inputs('6')).toEqual({ text: 'a "lighthouse"', clip: ['4', 1] });
      expect(inputs('7')).toMatchObject({ text: 'fog' });
      expect(servers[0].cleanUps).toEqual(['history 1']);
    });

    it('have another seed each time, since a workflow that has not changed is not run again', async () => {
      await make();
      const first = inputs('3')?.['seed'];
      await make();
      expect(first).not.toBe(inputs('3')?.['seed']);
      expect(inputs('7')).toMatchObject({ text: 'blurry' });
    });

    it('are still made if a few polls fail', async () => {
      servers[0].fate = 'unsteady';
      expect(await make()).toHaveLength(2);
      expect(servers[1].graphs).toEqual([]);
    });

    it.each(['fails', 'nothing', 'lost', 'invalid'] as const)(
      'are made by the next backend if the first has a job that is %s',
      async (fate) => {
        servers[0].fate = fate;
        expect(await make()).toHaveLength(2);
        expect(servers.map(({ graphs }) => graphs.length)).toEqual([1, 1]);
      },
    );

    it('fail without the words of the server', async () => {
      for (const server of servers) server.fate = 'fails';
      const failure: unknown = await make().catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'INFERENCE_FAILED' });
      expect(JSON.stringify(failure)).not.toContain('secret');
    });

    it('are no longer made once their caller leaves, and occupy the server until then', async () => {
      servers[0].fate = 'works';
      const leaving = new AbortController();
      const made = make({}, leaving.signal);
      await eventually('the server works', () => servers[0].graphs.length === 1);
      expect(await make()).toHaveLength(2);
      expect(servers.map(({ graphs }) => graphs.length)).toEqual([1, 1]);
      leaving.abort();
      await expect(made).rejects.toMatchObject({ code: 'INFERENCE_FAILED' });
      const left = ['queue 1', 'interrupt 1', 'history 1'];
      await eventually('the job is ended', () => servers[0].cleanUps.length === left.length);
      expect(servers[0].cleanUps).toEqual(left);
    });

    it('are ended at the deadline', async () => {
      servers[0].fate = 'works';
      await expect(make()).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
      expect(servers[0].cleanUps).toEqual(['queue 1', 'interrupt 1', 'history 1']);
    });
  });
}
