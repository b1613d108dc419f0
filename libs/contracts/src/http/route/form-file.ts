import { z } from 'zod';

/** A file of a form. */
export interface FormFile {
  readonly name?: string;
  /** As its part says, in small letters and without parameters. */
  readonly mediaType?: string;
  readonly bytes: Uint8Array;
}

const isFormFile = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'bytes' in value && value.bytes instanceof Uint8Array;

/** A member of a form that is a file. */
export const FormFile = z.custom<FormFile>(isFormFile, 'expected a file');
