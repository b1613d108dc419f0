// The thread of the pool: reads one image or audio file after the other.
import { Unreadable, serveJobs } from '@svc/threads';
import { dataUrl, dataUrlBytes, dataUrlHead } from './data-url.js';
import type { ImageFacts, ImageJob, ReadImage } from './image-job.js';
import { inspectImage } from './image.js';
import { withoutRest } from './image-end.js';
import { imageCopy } from './image-copy.js';
import { imageFile } from './image-file.js';
import { type AudioFile, audioFile } from './audio/audio-file.js';
import type { ThreadJob } from './media-threads.js';

serveJobs<ThreadJob, ReadImage | AudioFile>((job) => ('kind' in job ? audioFile(job.bytes) : readImage(job)));

async function readImage(job: ImageJob): Promise<ReadImage> {
  const { url = '' } = job;
  const head = dataUrlHead(url);
  const decoded = job.bytes ? { bytes: job.bytes, isPlain: false } : head && (await dataUrlBytes(url, head));
  if (!decoded) throw new Unreadable('the data URL is not valid');
  const { bytes, isPlain } = decoded;
  if (bytes.length > job.bytesLimit)
    throw new Unreadable(`it is over ${Math.floor(job.bytesLimit / 1_000_000)} MB`);
  const facts: ImageFacts = await inspectImage({ ...job, bytes });
  if (job.output === 'copy') return imageCopy({ ...job, bytes }, facts);
  if (job.output) return { ...facts, file: await imageFile({ ...job, bytes }, facts, job.output) };
  const mediaType = `image/${facts.format}`;
  const image = await withoutRest(bytes, facts.format);
  const isWhole = image.length === bytes.length;
  if (isWhole && isPlain && url.startsWith(`data:${mediaType};base64,`)) return facts;
  return { ...facts, url: await dataUrl(mediaType, image) };
}
