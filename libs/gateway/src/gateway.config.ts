import { durationMs, whole } from '@svc/runtime';
import { z } from 'zod';

/** Settings of the public API. */
export const gatewayConfig = {
  GATEWAY_ANSWER_TIMEOUT_MS: durationMs
    .default(300_000)
    .describe('How long an answer that is not streamed may take before it is a 504'),
  GATEWAY_BACKEND_SILENCE_MS: durationMs
    .default(120_000)
    .describe(
      'How long a backend may send bytes without an event of the answer among them, such as comments that keep a connection alive',
    ),
  GATEWAY_CLIENT_STALL_MS: durationMs.default(60_000).describe('How long a client may leave a stream unread'),
  GATEWAY_FIRST_SIGN_MS: durationMs
    .default(5_000)
    .describe(
      'After so long without a first token a stream begins all the same, and a refusal is an event of it',
    ),
  GATEWAY_KEEP_ALIVE_MS: durationMs.default(15_000).describe('A silent stream says that it lives this often'),
  GATEWAY_LEDGER_PATIENCE_MS: durationMs
    .default(30_000)
    .describe(
      'How long an answer under way waits for a ledger that can not be asked for more money, before it is cut',
    ),
  GATEWAY_TRANCHE_TOKENS: whole(16, 1_000_000)
    .default(512)
    .describe('The most output tokens of a choice for which an answer that is under way holds money ahead'),
  GATEWAY_PRIVATE_HOSTS: z
    .string()
    .default('')
    .describe(
      'Private `host:port` entries, by commas, that images, files and pages may be fetched from nevertheless',
    ),
  GATEWAY_ATTACHMENT_URLS: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'Whether images, videos and files that a request names by URL are fetched; otherwise only data URLs are taken',
    ),
  GATEWAY_FAILURE_BLOCK: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Whether callers that fail more than 20 times in 30 s are refused for 30 s'),
  GATEWAY_TRUSTED_PROXIES: z
    .string()
    .default('')
    .describe(
      'Addresses of proxies, by commas, as IP, CIDR or `loopback`, whose X-Forwarded-For says who the client is',
    ),
  GATEWAY_CORS_ORIGINS: z
    .string()
    .default('')
    .describe('Origins, by commas, such as `https://app.example`, or `*`, whose pages may ask; empty: none'),
  GATEWAY_ACCOUNT_CONCURRENCY: whole(0, 1_000_000)
    .default(0)
    .describe('Requests that an account may have under way at once; 0 sets no limit'),
  GATEWAY_AUGMENT_PER_MINUTE: whole(1, 1_000_000)
    .default(60)
    .describe('Searches, pages and files, each, that an account may buy by itself in a minute'),
  X402_PUBLIC_ORIGIN: z
    .url({ protocol: /^https?$/ })
    .refine(
      (url) => new URL(url).origin === url.replace(/\/$/, ''),
      'has to be an origin, such as https://api.example',
    )
    .optional()
    .describe(
      'The origin that wallets sign in to, such as `https://api.example`; without it, names of this machine only',
    ),
  GATEWAY_KEY_CACHE_MS: durationMs.default(60_000).describe('How long a key that was looked up is trusted'),
};

export type GatewayConfig = z.infer<z.ZodObject<typeof gatewayConfig>>;

/** The hosts of `GATEWAY_PRIVATE_HOSTS`. */
export function privateHosts({ GATEWAY_PRIVATE_HOSTS: hosts }: GatewayConfig): string[] {
  return hosts.split(',').filter((host) => host !== '');
}

/** The token of the settings. */
export abstract class GatewaySettings {
  abstract readonly config: GatewayConfig;
  /** The operator's secret. */
  abstract readonly operatorToken: string;
}
