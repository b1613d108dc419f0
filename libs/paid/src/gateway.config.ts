import { OPERATOR_SCOPES } from '@svc/api/route';
import { durationMs, secondSecret, whole } from '@svc/runtime';
import { z } from 'zod';

/** The name of the token of `SVC_OPERATOR_TOKEN`. */
export const MAIN_TOKEN = 'operator';

const NamedToken = z.strictObject({
  name: z
    .string()
    .regex(/^[\w.@-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes, underscores or @')
    .refine((name) => name !== MAIN_TOKEN, `must not be \`${MAIN_TOKEN}\`, the name of SVC_OPERATOR_TOKEN`),
  scopes: z.array(z.enum(OPERATOR_SCOPES)).min(1),
  expires: z.iso.datetime({ offset: true }).optional(),
  sha256: z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be a SHA-256 in hexadecimal'),
});
type NamedToken = z.infer<typeof NamedToken>;

const TokenList = z
  .array(NamedToken)
  .refine(
    (tokens) => new Set(tokens.map(({ name }) => name)).size === tokens.length,
    'must name each token once',
  )
  .refine(
    (tokens) => new Set(tokens.map(({ sha256 }) => sha256.toLowerCase())).size === tokens.length,
    'must not contain the same token under two names',
  );

/** The tokens of `SVC_OPERATOR_TOKENS`, whose text was validated when the settings were loaded. */
export const tokensIn = (text: string): NamedToken[] => TokenList.parse(JSON.parse(text));

/** The first error in a list of tokens, if any. */
function faultOfTokens(text: string): string | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return 'must be a JSON array of tokens';
  }
  const issue = TokenList.safeParse(json).error?.issues[0];
  return issue && `${issue.path.join('.')} ${issue.message}`.trim();
}

/** Settings of the public API. */
export const gatewayConfig = {
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
  GATEWAY_ATTACHMENT_URLS: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      'Whether images, videos and files that a request names by URL are fetched; if not, only data URLs are accepted',
    ),
  GATEWAY_FAILURE_BLOCK: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Whether callers with more than 20 failed requests in 30 s are blocked for 30 s'),
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
  SVC_CONSOLE: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Whether the console, where customers manage their account in a browser, is at `/console`'),
  GATEWAY_ACCOUNT_CONCURRENCY: whole(0, 1_000_000)
    .default(64)
    .describe(
      'The maximum number of concurrent requests per account, over all models, unless the operator sets another for the account; 0 means no limit',
    ),
  GATEWAY_AUGMENT_PER_MINUTE: whole(1, 1_000_000)
    .default(60)
    .describe(
      'The maximum number of searches, of pages and of files, each, that an account may request per minute through the `/augment` routes',
    ),
  X402_PUBLIC_ORIGIN: z
    .url({ protocol: /^https?$/ })
    .refine(
      (url) => new URL(url).origin === url.replace(/\/$/, ''),
      'must be an origin, such as https://api.example',
    )
    .optional()
    .describe(
      'The public origin of the API, to which wallets sign in, such as `https://api.example`; if unset, only host names of this machine are accepted',
    ),
  SVC_OPERATOR_TOKENS: z
    .string()
    .default('[]')
    .superRefine((text, context) => {
      const fault = faultOfTokens(text);
      if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
    })
    .describe(
      'More operator tokens besides SVC_OPERATOR_TOKEN, which has all scopes: JSON such as `[{"name":"ann","scopes":["read","money","keys"],"expires":"2027-01-31T00:00:00Z","sha256":"…"}]`, where `sha256` is the SHA-256 of the token in hexadecimal and a token without `expires` does not expire',
    ),
  SVC_OPERATOR_TOKEN_SECOND: secondSecret('SVC_OPERATOR_TOKEN'),
  GATEWAY_KEY_CACHE_MS: durationMs
    .default(60_000)
    .describe('How long a key is accepted after a lookup without another lookup'),
  GATEWAY_KEY_STALE_MS: durationMs
    .default(600_000)
    .describe('How much longer a cached key is accepted while the database does not respond'),
};

export type GatewayConfig = z.infer<z.ZodObject<typeof gatewayConfig>>;

/** The hosts of `GATEWAY_PRIVATE_HOSTS`. */
export function privateHosts({ GATEWAY_PRIVATE_HOSTS: hosts }: GatewayConfig): string[] {
  return hosts.split(',').filter((host) => host !== '');
}

/** Injection token of the settings. */
export abstract class GatewaySettings {
  abstract readonly config: GatewayConfig;
  /** The operator's secret. */
  abstract readonly operatorToken: string;
}
