import { type Logger, StartFault } from '@svc/runtime';
import type { MediaStoreConfig } from '../media-jobs.config.js';
import { FileMediaStore } from './file-media-store.js';
import type { MediaStore } from './media-store.js';
import { S3Refusal } from './s3-calls.js';
import { KeysRefusal, credentialsOf } from './s3-credentials.js';
import { S3MediaStore } from './s3-media-store.js';

/**
 * The store that the settings name. Throws StartFault if they name none, or a bucket that cannot be used. A
 * server that does not respond yet is only logged.
 */
export async function openMediaStore(config: MediaStoreConfig, logger: Logger): Promise<MediaStore> {
  const { MEDIA_S3_URL: url, MEDIA_DIR: folder } = config;
  if (url === undefined) {
    if (folder === undefined)
      throw new StartFault(
        'MEDIA_S3_URL is not set, and neither is MEDIA_DIR: there is no place for videos and music',
      );
    return FileMediaStore.at(folder);
  }
  if (config.MEDIA_S3_BUCKET === undefined)
    throw new StartFault('MEDIA_S3_BUCKET is not set, which MEDIA_S3_URL needs');
  const store = new S3MediaStore({
    url,
    publicUrl: config.MEDIA_S3_PUBLIC_URL,
    name: config.MEDIA_S3_BUCKET,
    region: config.MEDIA_S3_REGION,
    prefix: config.MEDIA_S3_PREFIX,
    credentials: credentialsOf(config),
  });
  try {
    await store.check();
  } catch (error) {
    if (isFinal(error)) {
      await store.close();
      throw new StartFault(`MEDIA_S3_BUCKET cannot be used: ${error.message}`, { cause: error });
    }
    logger.warn({ err: error }, 'the storage server of videos and music does not respond');
  }
  return store;
}

const isFinal = (error: unknown): error is Error =>
  error instanceof StartFault ||
  ((error instanceof S3Refusal || error instanceof KeysRefusal) && error.status < 500);
