import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { z } from 'zod';
import { StartFault } from '@svc/runtime';

/** An operator's file does not match its schema. The message names the file and every fault. */
export class FileError extends StartFault {
  override readonly name = 'FileError';
}

/** A file's text, its content as it is written, and the same after all defaults. */
export interface ParsedFile<Value> {
  readonly text: string;
  readonly content: unknown;
  readonly value: Value;
}

/** The parsed file; `undefined` if it does not exist. */
export async function readYaml<Schema extends z.ZodType>(
  path: string,
  schema: Schema,
): Promise<ParsedFile<z.infer<Schema>> | undefined> {
  try {
    return parseYaml(await readFile(path, 'utf8'), schema, path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error instanceof FileError ? error : fileError(path, error);
  }
}

/** The text of a file, parsed. FileError if it is broken. */
export function parseYaml<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  path: string,
): ParsedFile<z.infer<Schema>> {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    throw fileError(path, error);
  }
  return { text, content, value: parsedBy(schema, content, path) };
}

const fileError = (path: string, error: unknown): FileError =>
  new FileError(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });

/** Content that matches a schema; FileError if it does not. */
export function parsedBy<Schema extends z.ZodType>(
  schema: Schema,
  content: unknown,
  path: string,
): z.infer<Schema> {
  const result = schema.safeParse(content);
  if (result.success) return result.data;
  const faults = result.error.issues.map(
    (issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`,
  );
  throw new FileError(`${path}: ${faults.join('; ')}`);
}
