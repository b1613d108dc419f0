import { describe, expect, it } from 'vitest';
import { prefersCsv } from './csv-file.js';

describe('CSV', () => {
  it.each([
    'text/csv',
    'TEXT/CSV;charset=utf-8',
    'application/json;q=0.5, text/csv',
    'text/*',
    'text/csv, */*;q=0.1',
  ])('is preferred by %s', (accept) => expect(prefersCsv(accept)).toBe(true));

  it.each([
    undefined,
    '',
    '*/*',
    'application/json',
    'text/html',
    'text/csv;q=0.5, application/json',
    'text/csv;q=0',
  ])('is not preferred by %s', (accept) => expect(prefersCsv(accept)).toBe(false));
});
