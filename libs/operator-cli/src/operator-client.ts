import type { RouteDefinition } from '@svc/api/route';
import { z } from 'zod';

/** An audit of large books takes minutes. */
const CALL_MS = 1_800_000;

export interface OperatorAddress {
  /** Where the operator's API listens, such as `http://127.0.0.1:3001`. */
  readonly url: string;
  readonly token: string;
}

export interface RouteCall {
  readonly params?: Readonly<Record<string, string>>;
  /** The members of the query, or of the body if the route has one. */
  readonly members?: Readonly<Record<string, unknown>>;
  readonly accept?: string;
}

const Refusal = z.object({
  code: z.string(),
  error: z.object({ message: z.string() }),
  issues: z
    .array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
    .optional(),
});

/** Calls routes of the operator's API. */
export class OperatorClient {
  constructor(private readonly address: OperatorAddress) {}

  /** Throws an error with the code and the message of a refusal, as `text` does. */
  async json(route: RouteDefinition, call: RouteCall): Promise<unknown> {
    return (await this.send(route, call)).json();
  }

  async text(route: RouteDefinition, call: RouteCall): Promise<string> {
    return (await this.send(route, call)).text();
  }

  private async send(
    route: RouteDefinition,
    { params = {}, members = {}, accept = 'application/json' }: RouteCall,
  ): Promise<Response> {
    const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    );
    const url = new URL(this.address.url.replace(/\/$/, '') + path);
    if (!route.body)
      for (const [name, value] of Object.entries(members)) url.searchParams.set(name, String(value));
    const response = await fetch(url, {
      method: route.method,
      headers: {
        authorization: `Bearer ${this.address.token}`,
        accept,
        ...(route.body && { 'content-type': 'application/json' }),
      },
      ...(route.body && { body: JSON.stringify(members) }),
      signal: AbortSignal.timeout(CALL_MS),
    }).catch((error: unknown) => {
      throw new Error(`${url.origin} cannot be reached: ${reasonOf(error)}`);
    });
    if (!response.ok) throw new Error(await refusalOf(response));
    return response;
  }
}

const reasonOf = (error: unknown): string => {
  const { cause = error } = error as { readonly cause?: unknown };
  return cause instanceof Error ? cause.message : String(cause);
};

async function refusalOf(response: Response): Promise<string> {
  const read = Refusal.safeParse(await response.json().catch(() => undefined));
  if (!read.success) return `HTTP status ${response.status} without a reason`;
  const { code, error, issues = [] } = read.data;
  return [
    `${code}: ${error.message}`,
    ...issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`),
  ].join('\n');
}
