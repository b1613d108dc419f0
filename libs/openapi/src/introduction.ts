import type { RouteDefinition } from '@svc/api/route';
import { TAGS, routes } from '@svc/api';

/** The path that the addresses of clients begin with. */
export const PUBLIC_BASE = '/api/v1';

/** What a description says first. */
export const INTRODUCTION = {
  public: {
    title: 'Svc API',
    description: `An inference API for unmodified OpenAI clients: set their base URL to this service's address with \`/api/v1\`, and give them a key.

**Credentials.** \`Authorization: Bearer <key>\`. Without credentials, a route that wallets may use returns 402 with the ways to pay.

**Money.** Requests are paid from prepaid credit. Every response contains its cost, to the nano-dollar.

**Errors.** All errors have OpenAI's format, with the code at the top level as well. Retry requests that failed with 429, 500 or
503, with exponential backoff.

**Limits.** Requests and tokens per minute, for each account and model. The \`x-ratelimit-*\` headers show what is left.

**Versions.** Changes to \`/api/v1\` are backward compatible. The revision of the service is in \`x-svc-version\`.`,
    'x-guidance':
      'Without an account, sign in with a wallet (`SIGN-IN-WITH-X`) and buy credit with `POST /x402/top-up`, or create a key with ' +
      '`POST /api_keys/generate_web3_key`. `GET /models` has the models, what they can do, and their prices. `cost` in a ' +
      'response is what it has cost; set `max_tokens` to bound it. `Idempotency-Key` makes a repetition free.',
  },
  operator: {
    title: 'Svc operator API',
    description:
      "For the operator of the service, on the operator's port. Amounts of money are decimal strings, exact to the nano-dollar.",
  },
} as const;

/** What programs read that help people to use the API, in the form of https://llmstxt.org. */
export function llmsText(): string {
  const described = Object.values<RouteDefinition>(routes).filter(({ path }) =>
    path.startsWith(`${PUBLIC_BASE}/`),
  );
  const sections = Object.entries(TAGS).flatMap(([tag, description]) => {
    const lines = described.filter((route) => route.tag === tag).map(lineOf);
    return lines.length > 0 ? [`## ${tag}\n\n${description}\n\n${lines.join('\n')}\n`] : [];
  });
  const { title, description, 'x-guidance': guidance } = INTRODUCTION.public;
  return `# ${title}

> ${description.replaceAll('\n\n', '\n>\n> ')}

${guidance}

- [OpenAPI description](${routes.openApi.path}): every operation, field, header and error
- [Reference](${routes.docs.path}): the same as a page, with samples in curl, Python and JavaScript

${sections.join('\n')}`;
}

const lineOf = ({ method, path, tag, summary, operationId }: RouteDefinition): string =>
  `- [${summary}](${routes.docs.path}#/${tag.replaceAll(' ', '_')}/${operationId}): \`${method} ${path}\``;
