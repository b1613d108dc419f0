import type { WebQuery } from '@svc/contracts/ports';
import { z } from 'zod';

/** An HTTP request to a provider. */
interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
}

/** A page as a provider returns it: any field may contain markup, be missing, or not be a string. */
export interface RawPage {
  readonly title: unknown;
  readonly url: unknown;
  readonly content: unknown;
  /** In the provider's own date format. */
  readonly date?: unknown;
}

/** The headers of a response. */
export type ProviderHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The input for every kind of provider. */
export type ProviderQuery = Omit<WebQuery, 'accountId'>;

/** A search engine of the catalogue, with its key and its address. */
export interface Provider {
  readonly name: string;
  readonly deadlineMs: number;
  request(query: ProviderQuery): ProviderRequest;
  /** The provider's own way to announce how many seconds to rest after exceeding the quota, if it has one. */
  restSeconds?(headers: ProviderHeaders): number | undefined;
  /** The pages of a successful response. Throws if its format is wrong. */
  read(response: unknown): readonly RawPage[];
}

/** The settings of a provider with an operator's key. */
export interface KeyedTerms {
  readonly name: string;
  readonly deadlineMs: number;
  readonly key: string;
  /** Replaces its default address; without a path. */
  readonly url?: string | undefined;
  readonly region?: string | undefined;
  readonly language?: string | undefined;
}

/** Why a provider returned no pages. The message is for the operator: it may name hosts. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';

  /** @param restMs How long to rest the provider, if it requested that. */
  constructor(
    message: string,
    readonly restMs = 0,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const Page = z.record(z.string(), z.unknown());

/** The most pages read of one response; no provider returns more. */
const PAGES_AT_MOST = 100;

/**
 * The objects of the list at a path of a response. Throws if it is not a list; a missing list counts as
 * empty.
 */
export function pagesIn(response: unknown, path: readonly string[]): Record<string, unknown>[] {
  let at: unknown = Page.parse(response);
  for (const name of path) at = at === undefined ? undefined : Page.parse(at)[name];
  if (at === undefined || at === null) return [];
  return z
    .array(z.unknown())
    .parse(at)
    .slice(0, PAGES_AT_MOST)
    .flatMap((page) => {
      const read = Page.safeParse(page);
      return read.success ? [read.data] : [];
    });
}
