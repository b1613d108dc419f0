import { z } from 'zod';
import { FormFile } from '../route/form-file.js';

/** The most bytes of a file. */
export const BATCH_FILE_BYTES = 209_715_200;

const HOUR_SECONDS = 3_600;
const MONTH_SECONDS = 2_592_000;

/** Until when a file is kept. */
export const ExpiresAfter = z.object({
  anchor: z.literal('created_at'),
  seconds: z.int().min(HOUR_SECONDS).max(MONTH_SECONDS),
});

/** The members of an upload beside its file. */
export const FileFields = z.object({
  purpose: z.literal('batch', 'must be `batch`').describe('What the file is for. Only batches read files.'),
  expires_after: ExpiresAfter.optional().describe(
    'As JSON, or as `expires_after[anchor]` and `expires_after[seconds]`.',
  ),
});

export const FileUpload = FileFields.extend({
  file: FormFile.describe('A file of JSON lines, at most 200 MB.'),
});

export const FileView = z.object({
  id: z.string(),
  object: z.literal('file'),
  bytes: z.int(),
  created_at: z.int().describe('Unix seconds, as all times here.'),
  expires_at: z.int(),
  filename: z.string(),
  purpose: z.enum(['batch', 'batch_output']),
  status: z.literal('processed'),
});
export type FileView = z.infer<typeof FileView>;

export const FileParams = z.object({ file_id: z.string().max(64) });
export type FileParams = z.infer<typeof FileParams>;

/** Which page of a list. */
export const PageQuery = z.object({
  after: z.string().max(64).optional().describe('The last id of the previous page.'),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});
export type PageQuery = z.infer<typeof PageQuery>;

export const FileQuery = PageQuery.extend({
  purpose: z.enum(['batch', 'batch_output']).optional(),
  order: z.enum(['asc', 'desc']).default('desc').describe('By the time of creation.'),
});
export type FileQuery = z.infer<typeof FileQuery>;

/** A page of a list in OpenAI's form. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    object: z.literal('list'),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });

export const FilePage = pageOf(FileView);
export type FilePage = z.infer<typeof FilePage>;

export const FileDeleted = z.object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) });
export type FileDeleted = z.infer<typeof FileDeleted>;
