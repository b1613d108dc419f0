import { z } from 'zod';

const Name = z.string().trim().min(1).max(200);
const Label = z.string().trim().min(1).max(100);
const Labels = z.array(Label).max(20).default([]);
const Count = z.int().nonnegative();
const WebUrl = z.url({ protocol: /^https?$/ }).max(2_000);

/** A character's ratings and imports elsewhere; a new one has none. */
const Reception = z
  .strictObject({
    imports: Count.default(0),
    ratingCount: Count.default(0),
    /** The sum of ratings from 1 to 5. */
    ratingSum: Count.default(0),
  })
  .refine(({ ratingCount, ratingSum }) => ratingSum >= ratingCount && ratingSum <= 5 * ratingCount, {
    path: ['ratingSum'],
    message: 'must be the sum of ratingCount ratings from 1 to 5',
  });

/** A character in the operator's file. */
export const Character = z.strictObject({
  /** The public id, for `character_slug`. */
  slug: z
    .string()
    .max(100)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'must be lower-case letters and digits, separated by single hyphens'),
  name: Name,
  description: z.string().trim().min(1).max(2_000).optional(),
  /** The system prompt. Never published. */
  systemPrompt: z.string().trim().min(1).max(100_000),
  /** The recommended model: an id, an alias or a trait. A request's own model always takes precedence. */
  modelId: Name.default('default'),
  /** The author. Published as five characters that do not reveal the name. */
  author: Name.default('operator'),
  categories: Labels,
  tags: Labels,
  adult: z.boolean().default(false),
  featured: z.boolean().default(false),
  /** Meant for paid accounts. A filter, not enforced. */
  pro: z.boolean().default(false),
  webEnabled: z.boolean().default(false),
  photoUrl: WebUrl.optional(),
  shareUrl: WebUrl.optional(),
  stats: Reception.prefault({}),
  createdAt: z.iso.date().default('2026-01-01'),
  /** The day of the last change; default: the day of creation. */
  updatedAt: z.iso.date().optional(),
});

/** The file of characters. */
export const CharactersFile = z
  .strictObject({ characters: z.array(Character) })
  .superRefine(({ characters }, context) => {
    const seen = new Set<string>();
    for (const [index, { slug }] of characters.entries()) {
      if (seen.has(slug)) {
        context.addIssue({
          code: 'custom',
          path: ['characters', index, 'slug'],
          message: `the slug ${slug} is already used by another character`,
        });
      }
      seen.add(slug);
    }
  });

/** A character for clients. */
export const CharacterView = z.object({
  id: z.string(),
  slug: z.string().describe('The value for `character_slug`.'),
  name: z.string(),
  description: z.string().nullable(),
  author: z.string().describe('Five letters or digits, the same for every character of one author.'),
  adult: z.boolean(),
  featured: z.boolean(),
  webEnabled: z.boolean().describe('Whether it works best with a web search.'),
  modelId: z.string().describe('The recommended model. Requests still use the model that they name.'),
  photoUrl: z.string().nullable(),
  shareUrl: z.string().nullable(),
  tags: z.array(z.string()),
  stats: z.object({
    averageRating: z.number().describe('From 1 to 5; 0 without ratings.'),
    imports: z.int(),
    ratingCount: z.int(),
    ratingSum: z.int(),
    userRating: z.number().nullable().describe("The caller's own rating."),
  }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

export const CharacterList = z.object({ object: z.literal('list'), data: z.array(CharacterView) });

export const CharacterReply = z.object({ object: z.literal('character'), data: CharacterView });

/** A parameter that may be repeated or comma-separated. */
const listOf = (length: number) =>
  z.preprocess(
    (value) => {
      const given = Array.isArray(value) ? (value as unknown[]) : [value];
      const parts = given.flatMap((one) => (typeof one === 'string' ? one.split(',') : [one]));
      return parts
        .map((one) => (typeof one === 'string' ? one.trim() : one))
        .filter((one) => one !== '' && one !== undefined);
    },
    z.array(z.string().max(length)).max(20),
  );

const Switch = z.enum(['true', 'false']);

export const CharacterQuery = z.object({
  search: z.string().trim().max(200).optional().describe('A part of the name, the description or a tag.'),
  categories: listOf(100)
    .optional()
    .describe('Matches any of the values. Repeat the parameter, or separate values with commas.'),
  tags: listOf(100)
    .optional()
    .describe('Matches any of the values. Repeat the parameter, or separate values with commas.'),
  modelId: listOf(200)
    .optional()
    .describe('Matches any of the values. Repeat the parameter, or separate values with commas.'),
  isAdult: Switch.optional(),
  isPro: Switch.optional(),
  isWebEnabled: Switch.optional(),
  sortBy: z
    .enum([
      'featured',
      'highestRating',
      'highlyRated',
      'highlyRatedAndRecent',
      'imports',
      'mostRecent',
      'ratingCount',
    ])
    .default('featured')
    .describe(
      '`highestRating` sorts by the average rating alone, `highlyRated` also considers the number of ratings; ' +
        '`highlyRatedAndRecent` puts those rated 4 or higher first, and sorts by age, newest first.',
    ),
  sortOrder: z.enum(['asc', 'desc']).default('desc'),
  limit: z.coerce.number().int().min(1).max(100).default(50),
  offset: z.coerce.number().int().min(0).max(1_000_000_000).default(0),
});

export const CharacterReviewQuery = z.object({
  page: z.coerce.number().int().min(1).max(1_000_000_000).default(1),
  pageSize: z.coerce.number().int().min(1).max(100).default(20),
});

/** Reviews are not collected here, so the list is always empty. */
export const CharacterReviews = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      id: z.string(),
      characterId: z.string(),
      createdAt: z.iso.datetime(),
      isOwner: z.boolean(),
      locale: z.string().nullable(),
      message: z.string().nullable(),
      rating: z.int().min(1).max(5),
      userAvatarUrl: z.string().nullable(),
      username: z.string(),
    }),
  ),
  pagination: z.object({ page: z.int(), pageSize: z.int(), total: z.int(), totalPages: z.int() }),
  summary: z.object({ averageRating: z.number(), totalReviews: z.int() }),
});

export const CharacterParams = z.object({ slug: z.string().min(1) });

export type Character = z.infer<typeof Character>;
export type CharactersFile = z.infer<typeof CharactersFile>;
export type CharacterView = z.infer<typeof CharacterView>;
export type CharacterList = z.infer<typeof CharacterList>;
export type CharacterReply = z.infer<typeof CharacterReply>;
export type CharacterQuery = z.infer<typeof CharacterQuery>;
export type CharacterReviewQuery = z.infer<typeof CharacterReviewQuery>;
export type CharacterReviews = z.infer<typeof CharacterReviews>;
