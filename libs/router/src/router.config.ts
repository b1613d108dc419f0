import { durationMs, neighbourUrl, whole } from '@svc/runtime';
import { z } from 'zod';

/** Limits that a router and its callers must agree on. */
const bounds = {
  ROUTER_FIRST_CHUNK_TIMEOUT_MS: durationMs
    .default(120_000)
    .describe('How long a backend may take to begin a stream'),
  ROUTER_STREAM_IDLE_TIMEOUT_MS: durationMs.default(60_000).describe('How long a stream may pause'),
  ROUTER_STREAM_TIMEOUT_MS: durationMs
    .default(3_600_000)
    .describe('How long a stream may last after its first event'),
  ROUTER_COMPLETE_TIMEOUT_MS: durationMs
    .default(300_000)
    .describe('How long a response that is not streamed may take'),
  ROUTER_TRANSCRIPTION_TIMEOUT_MS: durationMs
    .default(600_000)
    .describe('How long a backend may take to transcribe or translate a file'),
  ROUTER_IMAGE_TIMEOUT_MS: durationMs.default(600_000).describe('How long a backend may take to make images'),
  ROUTER_IMAGE_LIMIT_BYTES: whole(1_024, 1_073_741_824)
    .default(134_217_728)
    .describe('The maximum size of a response with images, in base64'),
  ROUTER_RESPONSE_LIMIT_BYTES: whole(1_024, 1_073_741_824)
    .default(16_777_216)
    .describe('The maximum size of a response that is not streamed'),
  ROUTER_STREAM_LIMIT_BYTES: whole(1_024, 1_099_511_627_776)
    .default(1_073_741_824)
    .describe('The maximum size of a stream'),
};

/** Settings of the router. Defaults suit a single machine. */
export const routerConfig = {
  ROUTER_CONNECT_TIMEOUT_MS: durationMs
    .default(5_000)
    .describe('How long a backend may take to accept a connection'),
  ...bounds,
  ROUTER_QUEUE_TIMEOUT_MS: durationMs
    .default(10_000)
    .describe('How long a request waits when all backends of its model are at capacity'),
  ROUTER_COOL_DOWN_MS: durationMs
    .default(5_000)
    .describe(
      'How long a backend that failed is used only if no other is left; twice as long the second time in a row, and so on, up to twelve times',
    ),
  ROUTER_ATTEMPT_TIMEOUT_MS: durationMs
    .default(30_000)
    .describe('How long a backend may take to begin a stream before another one is tried, if there is one'),
  ROUTER_CHECK_MS: durationMs
    .default(5_000)
    .describe('How often a backend that had no calls is checked, if its model has several'),
  ROUTER_GOOGLE_METADATA_URL: z
    .url({ protocol: /^https?$/ })
    .default('http://metadata.google.internal')
    .describe(
      "The server that gives tokens to workloads on Google's machines, for backends of kind `vertex` without a key",
    ),
  ROUTER_SECRETS_DIR: z
    .string()
    .optional()
    .describe(
      'A folder with the secrets of backends, such as a mounted Secret: files with the names in `apiKeyEnv` and `cacheSaltEnv`, which come before variables of the environment and are read again when they change',
    ),
  ROUTER_PROXY_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe(
      'An HTTP proxy, with its user and password if it needs them, through whose tunnels calls of backends with an https URL go, and requests for their tokens. Calls without TLS go directly',
    ),
  ROUTER_PROXY_EXCEPT: z
    .string()
    .default('')
    .describe(
      'Hosts that are reached without `ROUTER_PROXY_URL`, with their subdomains, separated by commas',
    ),
  ROUTER_SIMULATOR_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('The URL of backends of kind `simulator` that have no URL of their own'),
};

export type RouterConfig = z.infer<z.ZodObject<typeof routerConfig>>;

export interface RouterSettings extends RouterConfig {
  /** Returns the environment variable that a backend's `apiKeyEnv` or `cacheSaltEnv` names. */
  readonly secret: (name: string) => string | undefined;
}

/** The settings of a process that calls a router in another process. */
export const routerClientConfig = {
  ROUTER_URL: neighbourUrl.describe(
    'The URL of the router; those of several replicas are separated by commas, or the addresses of one name, such as that of a headless service',
  ),
  ...bounds,
};

export type RouterClientConfig = z.infer<z.ZodObject<typeof routerClientConfig>>;
