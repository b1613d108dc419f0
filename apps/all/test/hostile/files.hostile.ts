import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decent } from './hostile-backend.js';
import { type Answer, Stage } from './stage.js';

const TEST_MS = 240_000;

let stage: Stage;
let files: Server;
let filesUrl: string;
let fetched: string[];
let sent: string[];

beforeAll(async () => {
  files = createServer((request, response) => {
    fetched.push(request.url ?? '');
    if (request.url === '/video.mp4') response.setHeader('content-type', 'video/mp4').end(VIDEO);
    else response.setHeader('content-type', 'text/plain').end('fetched text');
  }).listen(0, '127.0.0.1');
  await once(files, 'listening');
  const { port } = files.address() as AddressInfo;
  filesUrl = `http://127.0.0.1:${port}`;
  stage = await Stage.start({ env: { GATEWAY_PRIVATE_HOSTS: `127.0.0.1:${port}` } });
});
beforeEach(() => {
  fetched = [];
  sent = [];
  stage.backend.behave = (exchange) => {
    sent.push(exchange.body);
    return decent()(exchange);
  };
});
afterAll(async () => {
  await stage.stop();
  files.close();
});

/** As large as a video may be, and nothing in it. */
const VIDEO = Buffer.concat([Buffer.from('\0\0\0\x18ftypmp42', 'latin1'), Buffer.alloc(24_900_000)]);

const file = (data: string): object => ({ type: 'file', file: { file_data: data } });
const image = (url: string): object => ({ type: 'image_url', image_url: { url } });
const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`;

const PDF = dataUrl(
  'application/pdf',
  Buffer.from(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 45>>stream
BT /F1 12 Tf 20 200 Td (written in a PDF) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF
`),
);

it('are not fetched for who cannot pay for the request without them', async () => {
  const poor = await stage.open('0.0000001');
  const parts = [{ type: 'text', text: 'hi' }, file(`${filesUrl}/a.txt`), image(`${filesUrl}/b.png`)];
  expect((await stage.say(parts, {}, { apiKey: poor })).status).toBe(402);
  expect(fetched).toEqual([]);
  expect((await stage.say(parts.slice(0, 2))).status).toBe(200);
  expect(fetched).toEqual(['/a.txt']);
  expect(sent.join()).toContain('fetched text');
});

it(
  'come to no more together than one request may have, however short their URLs are',
  { timeout: TEST_MS },
  async () => {
    const video = { type: 'video_url', video_url: { url: `${filesUrl}/video.mp4` } };
    expect((await stage.say([video, video])).status).toBe(200);
    expect(sent.length).toBe(1);
    expect((await stage.say([video, video, video])).status).toBe(413);
    expect(sent.length).toBe(1);
  },
);

describe('hundreds of one account', () => {
  /** Asks so often, each time with these parts, and tells what was answered so far. */
  function asking(
    count: number,
    parts: object[],
    apiKey: string,
  ): { answers: Answer[]; all: Promise<unknown> } {
    const answers: Answer[] = [];
    const each = async (): Promise<void> => {
      answers.push(await stage.say(parts, {}, { apiKey }));
    };
    return { answers, all: Promise.all(Array.from({ length: count }, each)) };
  }

  it.each(['images', 'files'] as const)(
    'keep nobody else waiting for theirs: %s are read in turns, or refused with a time to come back',
    { timeout: TEST_MS },
    async (what) => {
      const [many, one] = [await stage.open('100.00'), await stage.open('100.00')];
      const avif = await sharp({ create: { width: 3_000, height: 2_000, channels: 3, background: 'red' } })
        .avif({ effort: 0 })
        .toBuffer();
      const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
        .png()
        .toBuffer();
      const large = Array<object>(what === 'images' ? 10 : 5).fill(
        what === 'images' ? image(dataUrl('image/avif', avif)) : file(PDF),
      );
      const flood = asking(40, large, many);
      await expect.poll(() => flood.answers.length, { timeout: 60_000, interval: 5 }).toBeGreaterThan(0);
      const few = asking(3, [file(PDF), image(dataUrl('image/png', png))], one);
      await few.all;
      const floodLeft = 40 - flood.answers.length;
      await flood.all;
      expect(few.answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(
        sent.filter((body) => body.includes('image/png') && body.includes('written in a PDF')),
      ).toHaveLength(3);
      expect(sent.join()).not.toContain('Error processing file');
      // They did not wait for all that came before them.
      expect(floodLeft).toBeGreaterThan(0);
      const refused = flood.answers.filter(({ status }) => status !== 200);
      for (const { status, headers } of refused)
        expect({ status, retryAfter: Number(headers.get('retry-after')) > 0 }).toEqual({
          status: 503,
          retryAfter: true,
        });
    },
  );
});

it('leave nothing behind', async () => {
  expect(await stage.afterwards()).toEqual([]);
});
