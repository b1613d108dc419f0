import { Problem } from '@svc/contracts/problems';
import { Retrieval } from '@svc/contracts/ports';
import { GuardedFetcher } from '@svc/guarded-fetch';
import { Images, imagesConfig } from '@svc/media';
import { loadConfig } from '@svc/runtime';
import { afterAll, expect, it } from 'vitest';
import { gatewayConfig } from '../gateway.config.js';
import { AttachmentFetcher } from './attachment-fetcher.js';
import { Attachments } from './attachments.js';
import { FileTexts } from './file-texts.js';

class NoFiles extends Retrieval {
  override extractText(): Promise<never> {
    throw new Error('nothing is there to be read');
  }
}

const images = new Images(loadConfig(imagesConfig, {}));
const config = loadConfig(gatewayConfig, { GATEWAY_ATTACHMENT_URLS: 'off' });
const settings = { config, operatorToken: 'x'.repeat(32) };
const fetcher = new AttachmentFetcher(new GuardedFetcher({}), settings);
const attachments = new Attachments(new FileTexts(new NoFiles(), settings), images, fetcher);
const context = {
  path: ['messages', 0, 'content', 0],
  accountId: 'account',
  takesImages: true,
  signal: new AbortController().signal,
};
const url = 'https://images.example/cat.png';

afterAll(() => images.close());

it('without fetching, rejects an image or video URL by its field, and replaces a file by an error text', async () => {
  const refused = await attachments
    .ready({ type: 'image_url', image_url: { url } }, context)
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Problem);
  expect(refused).toMatchObject({ message: expect.stringContaining('must be a data URL') as string });
  const video = attachments.ready({ type: 'video_url', video_url: { url } }, context);
  await expect(video).rejects.toThrow('must be a data URL');
  expect(await attachments.ready({ type: 'file', file: { file_data: url } }, context)).toEqual({
    type: 'text',
    text: '[Error processing file cat.png: it must be a data URL, because this deployment does not fetch URLs]',
  });
});
