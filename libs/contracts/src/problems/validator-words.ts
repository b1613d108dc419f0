import { z } from 'zod';

/** With an article, as in "must be a list, not a number". */
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  date: 'a date',
  bigint: 'an integer',
  nan: 'NaN',
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  url: 'a URL',
  email: 'an email address',
  date: 'a date such as 2026-11-30',
  datetime: 'a time such as 2026-11-30T12:00:00Z',
  base64: 'base64',
  base64url: 'base64url',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  cidrv4: 'a range of IPv4 addresses',
  cidrv6: 'a range of IPv6 addresses',
};

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  file: ['byte', 'bytes'],
  array: ['item', 'items'],
  set: ['item', 'items'],
  map: ['member', 'members'],
};

const REQUIRED = 'is required and must be ';

const typeName = (type: unknown): string => TYPES[String(type)] ?? String(type);

/** Whether a message is about a missing member. */
export const isAboutMissing = (message: string): boolean => message.startsWith(REQUIRED);

/** The end of a message about a wrong type: what was there instead. */
export const insteadIn = (message: string): string => /, not [^,]+$/.exec(message)?.[0] ?? '';

export const unionOf = (expected: Iterable<unknown>): string =>
  `must be ${[...expected].map(typeName).join(' or ')}`;

export const oneOf = (values: readonly unknown[]): string => {
  const words = values.map((value) => JSON.stringify(value));
  const last = words.pop() ?? '';
  return words.length === 0 ? `must be ${last}` : `must be one of ${words.join(', ')} or ${last}`;
};

/** What is wrong with a member, as the end of a sentence that begins with its name. */
function words(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return `${REQUIRED}${typeName(issue.expected)}`;
      return `must be ${typeName(issue.expected)}, not ${typeName(z.core.util.parsedType(issue.input))}`;
    case 'invalid_value':
      return oneOf(issue.values);
    case 'too_big':
      return size(issue, Number(issue.maximum), issue.inclusive === false ? 'less than' : 'at most');
    case 'too_small':
      return size(issue, Number(issue.minimum), issue.inclusive === false ? 'more than' : 'at least');
    case 'invalid_format':
      return format(issue);
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return `has unknown members: ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'invalid_union':
      return Array.isArray(issue.options) ? oneOf(issue.options) : 'is not valid';
    case 'invalid_key':
      return 'is not a valid name';
    case 'invalid_element':
    case 'custom':
      return 'is not valid';
  }
}

function size(
  { origin, exact }: { readonly origin: string; readonly exact?: boolean },
  limit: number,
  bound: string,
): string {
  const units = UNITS[origin];
  if (units && limit === 1 && bound === 'at least') return 'must not be empty';
  const most = exact === true ? 'exactly' : bound;
  return units ? `must have ${most} ${limit} ${units[limit === 1 ? 0 : 1]}` : `must be ${most} ${limit}`;
}

function format(issue: {
  readonly format: string;
  readonly pattern?: string;
  readonly prefix?: string;
}): string {
  if (issue.format === 'starts_with') return `must begin with ${JSON.stringify(issue.prefix)}`;
  if (issue.format === 'regex') return `must match the pattern ${String(issue.pattern)}`;
  return `must be ${FORMATS[issue.format] ?? `of the format ${issue.format}`}`;
}

/** Makes every schema of this process describe faults in these words. */
export function usePlainWords(): void {
  z.config({ localeError: words });
}
