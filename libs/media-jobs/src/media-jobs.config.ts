import { durationMs, neighbourUrl, whole } from '@svc/runtime';
import { z } from 'zod';

/** Settings of the process that has jobs and does them. */
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

/** Where a process keeps media that others should be able to read too. */
export const mediaStoreConfig = {
  MEDIA_S3_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The URL of an S3-compatible server for videos and music, without the bucket, which is added to the path',
    ),
  MEDIA_S3_PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'The URL at which clients reach the same server; if set, responses to orders have a `download_url` there',
    ),
  MEDIA_S3_BUCKET: z
    .string()
    .regex(/^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/)
    .optional()
    .describe('The bucket for videos and music; required with MEDIA_S3_URL'),
  MEDIA_S3_REGION: z
    .string()
    .regex(/^[\w-]{1,64}$/)
    .default('us-east-1')
    .describe('The region of the bucket; most servers other than AWS have us-east-1'),
  MEDIA_S3_PREFIX: z
    .string()
    .regex(/^[\w./-]{0,200}$/)
    .default('')
    .describe('What the names of all objects begin with, such as `media/`'),
  MEDIA_S3_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe('The access key of the bucket; if unset, the process needs a workload identity (`AWS_…`)'),
  MEDIA_S3_SECRET_ACCESS_KEY: z.string().optional().describe('The secret of the access key'),
  AWS_ROLE_ARN: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The role with access to the bucket, which the process assumes by its token; set by EKS (IRSA)',
    ),
  AWS_WEB_IDENTITY_TOKEN_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('The file with the token of the process, read again for each new key; set by EKS (IRSA)'),
  AWS_ENDPOINT_URL_STS: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('The server that returns keys for the token; default: that of AWS in MEDIA_S3_REGION'),
  AWS_CONTAINER_CREDENTIALS_FULL_URI: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('The agent that returns keys; set by EKS (Pod Identity), used without AWS_ROLE_ARN'),
  AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('The file with the token for that agent; set by EKS (Pod Identity)'),
  MEDIA_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A folder for videos and music, used if MEDIA_S3_URL is not set. Several workers need the same one, on a shared file system',
    ),
};

export type MediaStoreConfig = z.infer<z.ZodObject<typeof mediaStoreConfig>>;

/** Settings of a process that passes jobs on to the process that does them. */
export const mediaJobsClientConfig = {
  MEDIA_JOBS_URL: neighbourUrl
    .optional()
    .describe(
      'The URL of the media worker; those of several replicas are separated by commas. If unset, videos and music are NOT_AVAILABLE',
    ),
  MEDIA_JOBS_WAIT_MS: durationMs.default(10_000).describe('How long a call of the media worker may take'),
};

export type MediaJobsClientConfig = z.infer<z.ZodObject<typeof mediaJobsClientConfig>>;
