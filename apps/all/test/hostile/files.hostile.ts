import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { deflate, deflateSync } from 'node:zlib';
import { type AsyncZippable, strToU8, zip } from 'fflate';
import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { decent } from './hostile-backend.js';
import { ResidentWatch, residentBytes, TELLS_MEMORY } from '../memory.js';
import { type Outcome, HostileHarness } from './harness.js';

const TEST_MS = 240_000;

let harness: HostileHarness;
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
  harness = await HostileHarness.start({ env: { GATEWAY_PRIVATE_HOSTS: `127.0.0.1:${port}` } });
});
beforeEach(() => {
  fetched = [];
  sent = [];
  harness.backend.behave = (exchange) => {
    sent.push(exchange.body);
    return decent()(exchange);
  };
});
afterAll(async () => {
  await harness.stop();
  files.close();
});

/** A video of the maximum size, without content. */
const VIDEO = Buffer.concat([Buffer.from('\0\0\0\x18ftypmp42', 'latin1'), Buffer.alloc(24_900_000)]);

const file = (data: string): object => ({ type: 'file', file: { file_data: data } });
const image = (url: string): object => ({ type: 'image_url', image_url: { url } });
const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`;

/** A page with these drawing operators. */
function pdf(operators: Buffer, filters = ''): string {
  const head = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length ${operators.length}${filters}>>stream
`;
  const tail = `
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF
`;
  return dataUrl('application/pdf', Buffer.concat([Buffer.from(head), operators, Buffer.from(tail)]));
}

const TEXT = 'BT /F1 12 Tf 20 200 Td (written in a PDF) Tj ET\n';
const PDF = pdf(Buffer.from(TEXT));
/** Takes thirty times as long to read, but is hardly larger: most of its operators draw nothing. */
const SLOW_PDF = pdf(deflateSync(TEXT + 'q Q\n'.repeat(200_000)), '/Filter/FlateDecode');

it('are not fetched if the account cannot pay for the request without them', async () => {
  const poor = await harness.open('0.0000001');
  const parts = [{ type: 'text', text: 'hi' }, file(`${filesUrl}/a.txt`), image(`${filesUrl}/b.png`)];
  expect((await harness.say(parts, {}, { apiKey: poor })).status).toBe(402);
  expect(fetched).toEqual([]);
  expect((await harness.say(parts.slice(0, 2))).status).toBe(200);
  expect(fetched).toEqual(['/a.txt']);
  expect(sent.join()).toContain('fetched text');
});

it(
  'have a total size limit for each request, however short their URLs are',
  { timeout: TEST_MS },
  async () => {
    const video = { type: 'video_url', video_url: { url: `${filesUrl}/video.mp4` } };
    expect((await harness.say([video, video])).status).toBe(200);
    expect(sent.length).toBe(1);
    expect((await harness.say([video, video, video])).status).toBe(413);
    expect(sent.length).toBe(1);
  },
);

describe('hundreds of one account', () => {
  /** Sends this number of requests, each with these parts, and returns the statuses so far. */
  function asking(
    count: number,
    parts: object[],
    apiKey: string,
  ): { responses: Outcome[]; all: Promise<unknown> } {
    const responses: Outcome[] = [];
    const each = async (): Promise<void> => {
      responses.push(await harness.say(parts, {}, { apiKey }));
    };
    return { responses, all: Promise.all(Array.from({ length: count }, each)) };
  }

  it.each(['images', 'files'] as const)(
    'do not keep other accounts waiting: %s are read in turns, or refused with a time to retry',
    { timeout: TEST_MS },
    async (what) => {
      const [many, one] = [await harness.open('100.00'), await harness.open('100.00')];
      const avif = await sharp({ create: { width: 3_000, height: 2_000, channels: 3, background: 'red' } })
        .avif({ effort: 0 })
        .toBuffer();
      const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
        .png()
        .toBuffer();
      const large = Array<object>(what === 'images' ? 10 : 5).fill(
        what === 'images' ? image(dataUrl('image/avif', avif)) : file(SLOW_PDF),
      );
      const flood = asking(40, large, many);
      await expect.poll(() => flood.responses.length, { timeout: TEST_MS, interval: 5 }).toBeGreaterThan(0);
      const few = asking(3, [file(PDF), image(dataUrl('image/png', png))], one);
      await few.all;
      const floodLeft = 40 - flood.responses.length;
      await flood.all;
      expect(few.responses.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(
        sent.filter((body) => body.includes('image/png') && body.includes('written in a PDF')),
      ).toHaveLength(3);
      expect(sent.join()).not.toContain('Error processing file');
      // They did not wait for all earlier ones.
      expect(floodLeft).toBeGreaterThan(0);
      const refused = flood.responses.filter(({ status }) => status !== 200);
      for (const { status, headers } of refused)
        expect({ status, retryAfter: Number(headers.get('retry-after')) > 0 }).toEqual({
          status: 503,
          retryAfter: true,
        });
    },
  );
});

describe('bombs', () => {
  const MEGABYTE = 1_048_576;
  const PARAGRAPH = '<w:p><w:r><w:t>boom</w:t></w:r></w:p>';
  const ROW = '<row><c t="inlineStr"><is><t>boom</t></is></c></row>';
  const relation = (type: string, target: string): Uint8Array =>
    strToU8(
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" ' +
        `Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`,
    );
  const filled = (open: string, unit: string, close: string): Uint8Array =>
    Buffer.from(open + unit.repeat(Math.floor((190 * MEGABYTE) / unit.length)) + close);
  const office = 'application/vnd.openxmlformats-officedocument';

  // Threads compress: while this one stands still, the service may close idle connections, and the next
  // request would be sent on one of those.
  const zipped = promisify<AsyncZippable, Uint8Array>(zip);
  const deflated = promisify(deflate);

  async function word(document: Uint8Array): Promise<string> {
    const bytes = await zipped({
      '_rels/.rels': relation('officeDocument', 'word/document.xml'),
      'word/document.xml': document,
    });
    return dataUrl(`${office}.wordprocessingml.document`, Buffer.from(bytes));
  }

  async function workbook(): Promise<string> {
    const names =
      'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
    const bytes = await zipped({
      '_rels/.rels': relation('officeDocument', 'xl/workbook.xml'),
      'xl/_rels/workbook.xml.rels': relation('worksheet', 'worksheets/sheet1.xml'),
      'xl/workbook.xml': strToU8(
        `<workbook ${names}><sheets><sheet name="a" sheetId="1" r:id="r"/></sheets></workbook>`,
      ),
      'xl/worksheets/sheet1.xml': filled(`<worksheet ${names}><sheetData>`, ROW, '</sheetData></worksheet>'),
    });
    return dataUrl(`${office}.spreadsheetml.sheet`, Buffer.from(bytes));
  }

  const spaces = async (): Promise<string> =>
    pdf(
      await deflated(await deflated(Buffer.alloc(400 * MEGABYTE, ' '))),
      '/Filter[/FlateDecode/FlateDecode]',
    );

  it.runIf(TELLS_MEMORY)(
    'are read within limits, and their memory is returned to the system',
    { timeout: TEST_MS },
    async () => {
      const { pid } = harness.platform.service;
      const bombs = [
        await word(filled('<w:document><w:body>', PARAGRAPH, '</w:body></w:document>')),
        await word(Buffer.alloc(199 * MEGABYTE, ' ')),
        await workbook(),
        await spaces(),
      ];
      expect((await harness.say([file(PDF)])).status).toBe(200);
      const beforeBytes = residentBytes(pid);
      const watch = new ResidentWatch(pid);
      for (let round = 0; round < 3; round += 1) {
        const responses = await Promise.all(bombs.map((bomb) => harness.say([file(bomb)])));
        expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      }
      watch.stop();
      const grownBytes = watch.peakBytes - beforeBytes;
      expect(grownBytes).toBeGreaterThan(200 * MEGABYTE);
      await expect
        .poll(() => (residentBytes(pid) - beforeBytes) / grownBytes, { timeout: 30_000, interval: 500 })
        .toBeLessThan(0.4);
    },
  );
});

it('leave nothing behind', async () => {
  expect(await harness.afterwards()).toEqual([]);
});
