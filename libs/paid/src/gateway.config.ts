import { MailAddress } from '@svc/api/webhooks';
import { SECRET_LENGTH, durationMs, secondSecret, whole } from '@svc/runtime';
import { z } from 'zod';
import { IdentitySettings, identityConfig } from '@svc/identity';

const Link = z.strictObject({ name: z.string().min(1).max(60), url: z.url({ protocol: /^https?$/ }) });

/** The pages of `SVC_OPERATOR_LINKS`: names and addresses. */
export const linksIn = (text: string): z.infer<typeof Link>[] =>
  text.split(',').flatMap((part) => {
    const at = part.indexOf('=');
    return part.trim() === '' ? [] : [{ name: part.slice(0, at).trim(), url: part.slice(at + 1).trim() }];
  });

/** Settings of the public API. */
export const gatewayConfig = {
  ...identityConfig,
  GATEWAY_RESPONSE_TIMEOUT_MS: durationMs
    .default(300_000)
    .describe('How long a response that is not streamed may take before it fails with 504'),
  GATEWAY_BACKEND_IDLE_TIMEOUT_MS: durationMs
    .default(120_000)
    .describe(
      'How long a backend may send only bytes that are not part of the completion, such as keep-alive comments, before the stream fails',
    ),
  GATEWAY_CLIENT_IDLE_TIMEOUT_MS: durationMs
    .default(60_000)
    .describe('How long a client may stop reading a stream before it is disconnected'),
  GATEWAY_FIRST_TOKEN_WAIT_MS: durationMs
    .default(5_000)
    .describe(
      'How long a stream waits for the first token before it sends its response headers; an error after that is sent as an event',
    ),
  GATEWAY_KEEP_ALIVE_MS: durationMs
    .default(15_000)
    .describe('The interval of keep-alive comments on an idle stream'),
  GATEWAY_LEDGER_TIMEOUT_MS: durationMs
    .default(30_000)
    .describe(
      'How long a running completion waits for an unavailable ledger to extend its hold before it is cut off',
    ),
  GATEWAY_TRANCHE_TOKENS: whole(16, 1_000_000)
    .default(512)
    .describe(
      'The maximum number of output tokens per choice for which a running completion holds money in advance',
    ),
  GATEWAY_PRIVATE_HOSTS: z
    .string()
    .default('')
    .describe(
      'Exceptions to the ban on private addresses: images, videos, files and web pages that requests name by URL may be fetched from these `host:port` entries, separated by commas, such as `10.0.0.5:8080,files.internal:443`, even though they are loopback, private or link-local. Anyone with an API key can then read what these hosts serve. Empty: only public addresses are fetched',
    ),
  GATEWAY_WEBHOOK_KEY: z
    .string()
    .min(SECRET_LENGTH)
    .optional()
    .describe(
      'The key that encrypts the stored secrets of webhooks; if unset, there are no webhooks, except that a single process generates one and stores it in its data directory',
    ),
  GATEWAY_WEBHOOK_KEY_SECOND: secondSecret('GATEWAY_WEBHOOK_KEY'),
  GATEWAY_WEBHOOK_PRIVATE_HOSTS: z
    .string()
    .default('')
    .describe(
      'Exceptions to the ban on private addresses for webhooks: `host:port` entries, separated by commas. Anyone with an ADMIN key can then have events posted to them',
    ),
  GATEWAY_SMTP_HOST: z
    .string()
    .min(1)
    .optional()
    .describe('The mail server that sends notices to e-mail addresses; if unset, there are none'),
  GATEWAY_SMTP_PORT: whole(1, 65_535).default(587).describe('The port of the mail server'),
  GATEWAY_SMTP_TLS: z
    .enum(['starttls', 'tls', 'off'])
    .default('starttls')
    .describe(
      'How the connection to the mail server is encrypted: `starttls`, usually on port 587, `tls` from its first byte, usually on port 465, or `off`',
    ),
  GATEWAY_SMTP_FROM: MailAddress.optional().describe(
    'The address from which notices are sent; needed with GATEWAY_SMTP_HOST',
  ),
  GATEWAY_SMTP_USER: z
    .string()
    .min(1)
    .optional()
    .describe('The user name at the mail server; if unset, mails are sent without authentication'),
  GATEWAY_SMTP_PASSWORD: z.string().min(1).optional().describe('The password at the mail server'),
  GATEWAY_ATTACHMENT_URLS: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'Whether images, videos and files that a request names by URL are fetched; if not, only data URLs are accepted',
    ),
  GATEWAY_TRUSTED_PROXIES: z
    .string()
    .default('')
    .describe(
      'Proxies whose `X-Forwarded-For` header is trusted: IP addresses, CIDR ranges or `loopback`, separated by commas',
    ),
  GATEWAY_CONNECTIONS_PER_ADDRESS: whole(0, 1_000_000)
    .default(0)
    .describe(
      'How many connections an IPv4 address or an IPv6 network (/64) may have open to one process; 0: no bound. Further ones are closed at once. Trusted proxies are not bound; behind `GATEWAY_PROXY_LISTEN` the address is that of the client',
    ),
  GATEWAY_PROXY_LISTEN: z
    .string()
    .regex(/^(?:\d{1,5}|\/.+)$/, 'must be a port or the absolute path of a Unix socket')
    .optional()
    .describe(
      'A second port, or the path of a Unix socket, that serves the API behind TCP load balancers. Each connection must begin with a PROXY protocol header (version 1 or 2), which gives the address of the client. Let only the load balancers connect to it: any other sender could claim any address',
    ),
  GATEWAY_CORS_ORIGINS: z
    .string()
    .default('')
    .describe(
      'Origins whose web pages may call the API (CORS), separated by commas, such as `https://app.example`, or `*` for all; empty: none',
    ),
  SVC_OPERATOR_LINKS: z
    .string()
    .default('')
    .refine(
      (text) => linksIn(text).every((link) => Link.safeParse(link).success),
      'must be NAME=URL,NAME=URL',
    )
    .describe(
      "Pages that the operator's desk links to, such as `Dashboards=https://grafana.example,Runbooks=https://git.example/runbooks`",
    ),
  GATEWAY_ACCOUNT_CONCURRENCY: whole(0, 1_000_000)
    .default(64)
    .describe(
      'The maximum number of concurrent requests per account, over all models, unless the operator sets another for the account; 0 means no limit',
    ),
  GATEWAY_BATCHES_AT_ONCE: whole(0, 100)
    .default(4)
    .describe('The maximum number of batches that a process works on at once; 0: it works on none'),
  GATEWAY_BATCH_LINES_IN_FLIGHT: whole(1, 1_000)
    .default(8)
    .describe('The maximum number of lines of a batch that run at once'),
  GATEWAY_BATCH_ACCOUNT_LINES: whole(1, 100_000_000)
    .default(200_000)
    .describe('The maximum number of lines of an account that wait in its unfinished batches'),
  GATEWAY_FILE_ACCOUNT_BYTES: whole(1_024, 1_125_899_906_842_624)
    .default(5_000_000_000)
    .describe('How many bytes the files of an account may have before it can upload another one'),
  GATEWAY_FILE_RETENTION_DAYS: whole(1, 365)
    .default(30)
    .describe('How long a file is kept, and the results of a batch, if the client does not say so'),
  GATEWAY_AUGMENT_PER_MINUTE: whole(1, 1_000_000)
    .default(60)
    .describe(
      'The maximum number of searches, of pages and of files, each, that an account may request per minute through the `/augment` routes',
    ),
};

export type GatewayConfig = z.infer<z.ZodObject<typeof gatewayConfig>>;

/** The hosts of `GATEWAY_PRIVATE_HOSTS`. */
export function privateHosts({ GATEWAY_PRIVATE_HOSTS: hosts }: GatewayConfig): string[] {
  return hostsIn(hosts);
}

/** The hosts of such a setting. */
export function hostsIn(hosts: string): string[] {
  return hosts.split(',').filter((host) => host !== '');
}

/** Injection token of the settings. */
export abstract class GatewaySettings extends IdentitySettings {
  abstract override readonly config: GatewayConfig;
}
