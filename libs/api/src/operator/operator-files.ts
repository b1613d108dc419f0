import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';

/** A version of a file of the operator. */
export const FileInForce = z.object({
  hash: z.string().describe('The first 16 digits of the SHA-256 of the file.').meta({
    example: '9f86d081884c7d65',
  }),
  content: z.unknown().describe('The content of the file.'),
});
export type FileInForce = z.infer<typeof FileInForce>;

/** A file of the operator as it is in force in one process. */
export const OperatorFileView = z.object({
  hash: FileInForce.shape.hash,
  since: z.iso.datetime().describe('When it came into force in this process.'),
  from: z
    .enum(['file', 'last-good'])
    .describe('`last-good` if the process started with a broken file, and so uses the last good version.'),
  rejected: z
    .object({
      at: z.iso.datetime(),
      hash: z.string().nullable().describe('Null if the file could not be read as a whole.'),
      reason: z.string(),
    })
    .nullable()
    .describe('Why the file as it is now is not in force.'),
  changes: z.array(z.string()).describe('What the last change brought, in words.'),
  content: FileInForce.shape.content,
});
export type OperatorFileView = z.infer<typeof OperatorFileView>;

/** A catalogue that is not in force. */
export const CatalogToCheck = z.strictObject({
  text: z.string().min(1).max(1_000_000).describe('The catalogue, as YAML or JSON.'),
});
export type CatalogToCheck = z.infer<typeof CatalogToCheck>;

/** What a catalogue would do. */
export const CatalogCheck = z.object({
  outcome: z
    .enum(['accepted', 'refused', 'broken'])
    .describe(
      '`accepted`: it would come into force. `refused`: it is valid, but would not. `broken`: it is not valid.',
    ),
  reason: z.string().nullable().describe('Why it is refused or broken.'),
  against: FileInForce.shape.hash.describe('The version in force, with which it was compared.'),
  changes: z.array(z.string()).describe('What it would change, in words. Empty for a broken one.'),
});
export type CatalogCheck = z.infer<typeof CatalogCheck>;

const description =
  'Each process shows its own. One without a port for the operator shows it to any holder of its internal token.';

export const fileRoutes = {
  showCatalog: {
    method: 'GET',
    path: '/operator/v1/catalog',
    operationId: 'showCatalog',
    tag: 'Health',
    summary: 'Shows the catalogue that is in force in this process',
    description,
    access: 'process',
    status: 200,
    reply: OperatorFileView,
    refusals: ['NOT_FOUND'],
  },
  checkCatalog: {
    method: 'POST',
    path: '/operator/v1/catalog/checks',
    operationId: 'checkCatalog',
    tag: 'Health',
    summary: 'Shows what a catalogue would change if it came into force, and whether it would',
    description: 'It is compared with the version in force in this process. Nothing is changed.',
    access: 'process',
    scope: 'read',
    status: 200,
    body: CatalogToCheck,
    bodyLimitBytes: 2_097_152,
    reply: CatalogCheck,
    refusals: ['NOT_FOUND'],
  },
  showCharacters: {
    method: 'GET',
    path: '/operator/v1/characters',
    operationId: 'showCharacters',
    tag: 'Health',
    summary: 'Shows the characters that are in force in this process',
    description,
    access: 'process',
    status: 200,
    reply: OperatorFileView,
    refusals: ['NOT_FOUND'],
  },
} as const satisfies Record<string, RouteDefinition>;
