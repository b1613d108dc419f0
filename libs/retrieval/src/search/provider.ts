import type { WebQuery } from '@svc/contracts';

/** How a provider is asked over HTTP. */
interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
}

/** A page as a provider tells of it: any of its texts may have markup, and be missing or no text at all. */
export interface RawPage {
  readonly title: unknown;
  readonly url: unknown;
  readonly content: unknown;
  /** In whatever form the provider has dates. */
  readonly date?: unknown;
}

/** The head of an answer. */
export type ProviderHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What is asked of every kind of provider. */
export type ProviderQuery = Omit<WebQuery, 'accountId'>;

/** A search engine of the catalogue, with its key and its address. */
export interface Provider {
  readonly name: string;
  readonly deadlineMs: number;
  request(query: ProviderQuery): ProviderRequest;
  /** How many seconds it wants to be left alone that is over its quota, where it says so in a way of its own. */
  restSeconds?(headers: ProviderHeaders): number | undefined;
  /** The pages of an answer with a status of success. Throws where it is none of this provider. */
  read(answer: unknown): readonly RawPage[];
}

/** What a provider with a key of the operator's is made of. */
export interface KeyedTerms {
  readonly name: string;
  readonly deadlineMs: number;
  readonly key: string;
  /** In place of its own address, without a path. */
  readonly url?: string | undefined;
  readonly region?: string | undefined;
  readonly language?: string | undefined;
}

/** Why a provider gave no pages. Its message is for the operator: it may name hosts. */
export class ProviderFault extends Error {
  override readonly name = 'ProviderFault';

  /** @param restMs How long it is not asked again, where it said that it wants to be left alone. */
  constructor(
    message: string,
    readonly restMs = 0,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
