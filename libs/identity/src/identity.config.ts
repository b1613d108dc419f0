import { OPERATOR_SCOPES } from '@svc/api/route';
import { durationMs, secondSecret } from '@svc/runtime';
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

/** Settings of who may call. */
export const identityConfig = {
  GATEWAY_FAILURE_BLOCK: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Whether callers with more than 20 failed requests in 30 s are blocked for 30 s'),
  GATEWAY_END_USER_HEADER: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/i, 'must be the name of a header')
    .transform((name) => name.toLowerCase())
    .optional()
    .describe(
      'A header by which clients name the end user of a request, such as `X-OpenWebUI-User-Id`, in place of `user` in its body',
    ),
  SVC_CONSOLE: z
    .enum(['on', 'off'])
    .default('on')
    .describe(
      "Whether the console, where customers manage their account in a browser, is at `/console`, and the operator's desk at `/desk` of the operator's port",
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

export type IdentityConfig = z.infer<z.ZodObject<typeof identityConfig>>;

/** Injection token of the settings. */
export abstract class IdentitySettings {
  abstract readonly config: IdentityConfig;
  /** The operator's secret. */
  abstract readonly operatorToken: string;
}
