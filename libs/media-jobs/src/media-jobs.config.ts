import { whole } from '@svc/runtime';
import type { z } from 'zod';

/** Settings of jobs that make media, for the processes that take them and that do them. */
export const mediaJobsConfig = {
  MEDIA_LIVE_JOBS: whole(1, 10_000)
    .default(20)
    .describe('The maximum number of unfinished video and music jobs of an account'),
  MEDIA_ACCOUNT_BYTES: whole(1_024, 1_125_899_906_842_624)
    .default(5_000_000_000)
    .describe('How much media of finished jobs an account may have before it can start another job'),
  MEDIA_RESULT_LIMIT_BYTES: whole(1_024, 5_000_000_000)
    .default(1_000_000_000)
    .describe('The maximum size of a video or track'),
  MEDIA_RETENTION_HOURS: whole(13, 8_760)
    .default(24)
    .describe('How long after its request a job and its media are kept'),
};

export type MediaJobsConfig = z.infer<z.ZodObject<typeof mediaJobsConfig>>;
