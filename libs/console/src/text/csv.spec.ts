import { expect, it } from 'vitest';
import { csvOf } from './csv.js';

it('quotes what separates cells, and marks what a spreadsheet would run', () => {
  const rows = [
    ['plain', 'a,b', 'say "no"', 'two\nlines'],
    ['=1+1', '@SUM(A1)', '-0.5', '-x'],
  ];
  expect(csvOf(rows)).toBe('plain,"a,b","say ""no""","two\nlines"\r\n\'=1+1,\'@SUM(A1),-0.5,\'-x\r\n');
});
