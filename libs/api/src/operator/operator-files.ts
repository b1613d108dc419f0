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
