import { z } from 'zod';

/** A file of a form. */
export interface FormFile {
  readonly name?: string;
  /** The part's media type, in lower case and without parameters. */
  readonly mediaType?: string;
  readonly bytes: Uint8Array;
}

const isFormFile = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'bytes' in value && value.bytes instanceof Uint8Array;

/** A form member that is a file. */
export const FormFile = z.custom<FormFile>(isFormFile, 'must be a file');

/** The most bytes of a file. */
export const FILE_LIMIT_BYTES = 26_214_400;

/** Whether a schema is `FormFile`, with or without a description and further checks. */
export function isFormFileSchema(schema: z.core.$ZodType): boolean {
  const { parent } = schema._zod;
  return schema === FormFile || (parent !== undefined && isFormFileSchema(parent));
}
