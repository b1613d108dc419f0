import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { z } from 'zod';
import { StartFault } from '@svc/runtime';

/** An operator's file does not match its schema. The message names the file and every fault. */
export class FileError extends StartFault {
  override readonly name = 'FileError';
}

/** The parsed file; `undefined` if it does not exist. */
export async function readYaml<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): Promise<z.infer<Schema> | undefined> {
  let value: unknown;
  try {
    value = parse(await readFile(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new FileError(`${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = result.error.issues.map(
    (issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`,
  );
  throw new FileError(`${path}: ${faults.join('; ')}`);
}
