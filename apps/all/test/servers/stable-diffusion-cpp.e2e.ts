import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/storage';
import { toFile } from 'openai';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedProgram, openDiffusionServer, openPython } from '../clients/environments.js';
import { ImagePlatform } from '../image-platform.js';
import { errorOf, eventually } from '../response-bodies.js';
import { writeTinyDiffusion } from './tiny-diffusion.js';

const COLOR = { r: 255, g: 128, b: 0 };
const START_MS = 120_000;
const SIZE = { width: 64, height: 64 };

const python = await openPython();
const diffusion = python && (await openDiffusionServer(python));

describe.skipIf(!diffusion)('the server of stable-diffusion.cpp', () => {
  let folder: string;
  let server: StartedProgram;
  let images: ImagePlatform;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-diffusion-'));
    const files = { model: join(folder, 'model.safetensors'), autoencoder: join(folder, 'tae.safetensors') };
    await writeTinyDiffusion(files, [COLOR.r / 255, COLOR.g / 255, COLOR.b / 255]);
    const port = await freePort();
    const args = ['--model', files.model, '--tae', files.autoencoder, '--threads', '1', '--steps', '1'];
    server = await diffusion!.start('sd-server', [...args, '--listen-port', `${port}`], {
      ready: /listening on/,
      deadlineMs: START_MS,
    });
    const url = `http://127.0.0.1:${port}`;
    await eventually('the server responds', () =>
      fetch(`${url}/v1/models`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const model = (id: string, more: object): object => ({ id, name: id, tier: 'XS', ...more });
    const pricing = { generation: 0.01 };
    const constraints = { widthHeightDivisor: 16 };
    images = await ImagePlatform.start(() => [
      model('webui', {
        type: 'image',
        pricing,
        constraints,
        backends: [{ kind: 'sdapi', url, model: 'any' }],
      }),
      model('openai', {
        type: 'image',
        pricing,
        constraints,
        backends: [{ url: `${url}/v1`, model: 'any' }],
      }),
      model('editor', {
        type: 'inpaint',
        pricing: { inpaint: 0.04 },
        constraints,
        backends: [{ url: `${url}/v1`, model: 'any' }],
      }),
    ]);
  }, 2 * START_MS);
  afterAll(async () => {
    await images?.stop();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const left = async (): Promise<string> => (await images.platform.balances(images.account.id)).usd;

  /** The size of an image, and its mean color. */
  async function factsOf(base64: string | undefined): Promise<object> {
    const picture = sharp(Buffer.from(base64 ?? '', 'base64'));
    const { width, height } = await picture.metadata();
    const { channels } = await picture.removeAlpha().stats();
    return { width, height, color: channels.map(({ mean }) => mean) };
  }
  const PAINTED = { color: [COLOR.r, COLOR.g, COLOR.b].map((value) => expect.closeTo(value, -1)) };

  it.each(['webui', 'openai'])('makes several images of the requested size: %s', async (model) => {
    const before = Number(await left());
    const reply = await images.made({ model, ...SIZE, variants: 2, format: 'png' });
    expect(reply.images).toHaveLength(2);
    for (const image of reply.images) expect(await factsOf(image)).toEqual({ ...SIZE, ...PAINTED });
    await eventually(
      'both are charged',
      async () => Number(await left()) === Number((before - 0.02).toFixed(2)),
    );
  });

  it('makes images for the client library of OpenAI', async () => {
    const { data } = await images.account.openai.images.generate({
      model: 'openai',
      prompt: 'a lighthouse',
      size: '256x256',
    });
    expect(await factsOf(data?.[0]?.b64_json)).toEqual({ width: 256, height: 256, ...PAINTED });
  });

  it('edits a picture', async () => {
    const picture = await sharp({ create: { ...SIZE, channels: 3, background: '#336699' } })
      .png()
      .toBuffer();
    const { data } = await images.account.openai.images.edit({
      model: 'editor',
      prompt: 'as a painting',
      image: await toFile(picture, 'picture.png', { type: 'image/png' }),
      size: '256x256',
    });
    expect(await factsOf(data?.[0]?.b64_json)).toEqual({ width: 256, height: 256, ...PAINTED });
  });

  it('charges nothing for an invalid size', async () => {
    const before = await left();
    const response = await images.generate({ model: 'webui', width: 65, height: 64 });
    expect(response.status).toBe(400);
    expect((await errorOf(response)).error.message).toMatch(/width/);
    expect(await left()).toBe(before);
  });
});
