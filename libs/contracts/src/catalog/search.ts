import { z } from 'zod';

/** The name of an environment variable. */
const EnvName = z.string().regex(/^[A-Z][A-Z0-9_]*$/);

const Usd = z.number().nonnegative().max(1_000);
const Milliseconds = z.int().positive().max(60_000);

const terms = {
  /** Its name in logs and prices; default: its kind. */
  name: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, dashes and underscores')
    .optional(),
  /** Deadline of one search. */
  deadlineMs: Milliseconds.default(4_000),
  /** The customer's price of a search by this provider, in USD; default: `extras.webSearch`. */
  price: Usd.optional(),
  /** The country to search for, ISO 3166-1. */
  region: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .optional(),
  /** The language to search in, ISO 639-1. */
  language: z
    .string()
    .regex(/^[a-z]{2}$/)
    .optional(),
};

const Address = z.url({ protocol: /^https?$/ });

const keyed = {
  /** The environment variable that holds its key. Without a key the provider is skipped. */
  apiKeyEnv: EnvName,
  /** Replaces its default address; without a path. */
  url: Address.optional(),
  ...terms,
};

/** A web search provider. */
export const SearchProvider = z.discriminatedUnion('kind', [
  /** The simulator's few pages about this platform; without a URL, those of the simulator of this process. */
  z.strictObject({ kind: z.literal('simulator'), url: Address.optional(), ...terms }),
  /** The operator's own SearXNG, with `json` among its `search.formats`. */
  z.strictObject({ kind: z.literal('searxng'), url: Address, ...terms }),
  z.strictObject({ kind: z.literal('brave'), ...keyed }),
  z.strictObject({ kind: z.literal('tavily'), ...keyed }),
  z.strictObject({ kind: z.literal('exa'), ...keyed }),
  /** A Programmable Search Engine, by its id. Google ends its API on 2027-01-01. */
  z.strictObject({ kind: z.literal('google'), engineId: z.string().min(1).max(100), ...keyed }),
]);

/** The settings of web search. */
export const Search = z.strictObject({
  /** Called in this order until one finds something. */
  providers: z
    .array(SearchProvider)
    .min(1)
    .refine(
      (providers) => new Set(providers.map(({ name, kind }) => name ?? kind)).size === providers.length,
      'must not contain two providers with the same name',
    ),
  /** The most pages added to a prompt. */
  results: z.int().min(1).max(20).default(6),
  /** The most tokens that search results may add to a prompt. */
  budgetTokens: z.int().min(200).max(50_000).default(2_000),
  /** Deadline of all providers together. */
  deadlineMs: Milliseconds.default(8_000),
  /** How long results are cached by query; 0 disables the cache. */
  cacheSeconds: z.int().min(0).max(86_400).default(300),
  /** The most cached queries. */
  cacheEntries: z.int().min(1).max(100_000).default(1_000),
});

/** The settings for reading pages that a message links to. */
export const Scraping = z.strictObject({
  /** The most tokens that all of them together may add to a prompt. */
  budgetTokens: z.int().min(200).max(200_000).default(8_000),
});

export type SearchProvider = z.infer<typeof SearchProvider>;
export type Scraping = z.infer<typeof Scraping>;
export type Search = z.infer<typeof Search>;
