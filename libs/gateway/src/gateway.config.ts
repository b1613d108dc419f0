import { OPERATOR_SCOPES } from '@svc/contracts';
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
      'Exceptions to the ban on private addresses: images, videos, files and web pages that requests name by URL may be fetched from these `host:port` entries, separated by commas, such as `10.0.0.5:8080,files.internal:443`, even though they are loopback, private or link-local. Anyone with an API key can then read what these hosts serve. Empty: only public addresses are fetched',
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
      'Comma-separated addresses of proxies, as IP, CIDR or `loopback`, whose `X-Forwarded-For` names the client',
    ),
  GATEWAY_PROXY_LISTEN: z
    .string()
    .regex(/^(?:\d{1,5}|\/.+)$/, 'must be a port or the absolute path of a Unix socket')
    .optional()
    .describe(
      'A second place to serve the API, a port or the path of a Unix socket, for TCP balancers: each connection must begin with a PROXY protocol header (version 1 or 2) that names the client. Only the balancers may reach it, since whoever does can name any client',
    ),
  GATEWAY_CORS_ORIGINS: z
    .string()
    .default('')
    .describe('Origins, by commas, such as `https://app.example`, or `*`, whose pages may ask; empty: none'),
  GATEWAY_ACCOUNT_CONCURRENCY: whole(0, 1_000_000)
    .default(64)
    .describe(
      'Requests that an account may have under way at once, over all models, unless the operator has set another number for it; 0 sets no limit',
    ),
  GATEWAY_AUGMENT_PER_MINUTE: whole(1, 1_000_000)
    .default(60)
    .describe('Searches, pages and files, each, that an account may buy by itself in a minute'),
  X402_PUBLIC_ORIGIN: z
    .url({ protocol: /^https?$/ })
    .refine(
      (url) => new URL(url).origin === url.replace(/\/$/, ''),
      'must be an origin, such as https://api.example',
    )
    .optional()
    .describe(
      'The origin that wallets sign in to, such as `https://api.example`; without it, names of this machine only',
    ),
  SVC_OPERATOR_TOKENS: z
    .string()
    .default('[]')
    .superRefine((text, context) => {
      const fault = faultOfTokens(text);
      if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
    })
    .describe(
      'More operator tokens, beside SVC_OPERATOR_TOKEN which may do everything: JSON such as `[{"name":"ann","scopes":["read","money","keys"],"expires":"2027-01-31T00:00:00Z","sha256":"…"}]`, where `sha256` is the SHA-256 of the token in hexadecimal and a token without `expires` does not expire',
    ),
  SVC_OPERATOR_TOKEN_SECOND: secondSecret('SVC_OPERATOR_TOKEN'),
  GATEWAY_KEY_CACHE_MS: durationMs
    .default(60_000)
    .describe('How long a key that was looked up is accepted without another lookup'),
  GATEWAY_KEY_STALE_MS: durationMs
    .default(600_000)
    .describe('How much longer a known key is accepted while the database does not respond'),
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
