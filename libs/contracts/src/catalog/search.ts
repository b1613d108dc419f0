import { z } from 'zod';

/** The name of an environment variable. */
const EnvName = z.string().regex(/^[A-Z][A-Z0-9_]*$/);

const Usd = z.number().nonnegative().max(1_000);
const Milliseconds = z.int().positive().max(60_000);

const terms = {
  /** What logs and prices know it by; default: its kind. */
  name: z
    .string()
    .regex(/^[\w.-]{1,64}$/, 'has letters, digits, dots, dashes and underscores, 64 at most')
    .optional(),
  /** How long it may take. */
  deadlineMs: Milliseconds.default(4_000),
  /** What a search that it answers costs the customer, in USD; default: `extras.webSearch`. */
  price: Usd.optional(),
  /** The country that results are for, ISO 3166-1. */
  region: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .optional(),
  /** The language that results are in, ISO 639-1. */
  language: z
    .string()
    .regex(/^[a-z]{2}$/)
    .optional(),
};

const Address = z.url({ protocol: /^https?$/ });

const keyed = {
  /** The environment variable that holds the key for it. Without a key it is left out. */
  apiKeyEnv: EnvName,
  /** In place of its own address, without a path. */
  url: Address.optional(),
  ...terms,
};

/** Who is asked for pages of the web. */
export const SearchProvider = z.discriminatedUnion('kind', [
  /** The simulator's few pages about this platform; without a URL, those of the one that belongs to this process. */
  z.strictObject({ kind: z.literal('simulator'), url: Address.optional(), ...terms }),
  /** A SearXNG of the operator's, with `json` among its `search.formats`. */
  z.strictObject({ kind: z.literal('searxng'), url: Address, ...terms }),
  z.strictObject({ kind: z.literal('brave'), ...keyed }),
  z.strictObject({ kind: z.literal('tavily'), ...keyed }),
  z.strictObject({ kind: z.literal('exa'), ...keyed }),
  /** A Programmable Search Engine, by its id. Google ends its API on 2027-01-01. */
  z.strictObject({ kind: z.literal('google'), engineId: z.string().min(1).max(100), ...keyed }),
]);

/** How the web is searched. */
export const Search = z.strictObject({
  /** Asked in this order, until one has found something. */
  providers: z
    .array(SearchProvider)
    .min(1)
    .refine(
      (providers) => new Set(providers.map(({ name, kind }) => name ?? kind)).size === providers.length,
      'two providers have the same name',
    ),
  /** Pages that an answer may rest on. */
  results: z.int().min(1).max(20).default(6),
  /** The most tokens that what was found may add to a prompt. */
  budgetTokens: z.int().min(200).max(50_000).default(2_000),
  /** How long all providers together may take. */
  deadlineMs: Milliseconds.default(8_000),
  /** How long results are good for the same query again; 0 remembers none. */
  cacheSeconds: z.int().min(0).max(86_400).default(300),
  /** Queries whose results are remembered. */
  cacheEntries: z.int().min(1).max(100_000).default(1_000),
});

/** How pages are read that a message names. */
export const Scraping = z.strictObject({
  /** The most tokens that they may add to a prompt, all together. */
  budgetTokens: z.int().min(200).max(200_000).default(8_000),
});

export type SearchProvider = z.infer<typeof SearchProvider>;
export type Scraping = z.infer<typeof Scraping>;
export type Search = z.infer<typeof Search>;
