import { BackendError } from '@svc/backend-calls';
import { Guard } from '@svc/contracts/catalog';
import { describe, expect, it } from 'vitest';
import { guardVerdict, moderations } from './moderations.js';

const verdict = (more: object = {}): object => ({
  flagged: true,
  categories: { violence: true, illicit: null },
  category_scores: { violence: 0.75, illicit: null },
  ...more,
});
const read = (body: unknown): unknown =>
  moderations.read(typeof body === 'string' ? body : JSON.stringify(body), 1);

describe('a moderation', () => {
  it('has the verdicts in order, with the defaults of what the model does not judge', () => {
    const types = { violence: ['text'] };
    const body = { results: [verdict({ category_applied_input_types: types })], usage: { prompt_tokens: 4 } };
    expect(read(body)).toEqual({
      verdicts: [
        {
          flagged: true,
          categories: { violence: true, illicit: false },
          scores: { violence: 0.75, illicit: 0 },
          inputTypes: types,
        },
      ],
      promptTokens: 4,
    });
    expect(read({ results: [verdict({ flagged: undefined })] })).toMatchObject({
      verdicts: [{ flagged: true }],
    });
  });

  it.each([
    ['no JSON', 'nothing'],
    ['no verdicts', '{}'],
    ['a verdict too few', { results: [] }],
    ['a verdict too many', { results: [verdict(), verdict()] }],
    ['null in place of a verdict', { results: [null] }],
    ['a flag that is a text', { results: [verdict({ flagged: 'no' })] }],
    ['a category that is a text', { results: [verdict({ categories: { violence: 'no' } })] }],
    ['a score above 1', { results: [verdict({ category_scores: { violence: 2 } })] }],
    ['NaN', JSON.stringify({ results: [verdict()] }).replace('0.75', 'NaN')],
    ['infinity', JSON.stringify({ results: [verdict()] }).replace('0.75', '1e999')],
    [
      'too many categories',
      {
        results: [
          verdict({ categories: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [at, true])) }),
        ],
      },
    ],
  ])('is rejected with %s', (_, body) => {
    expect(() => read(body)).toThrow(Error);
    expect(() => read(body)).not.toThrow(BackendError);
  });

  it('is a backend error if a 200 contains one', () => {
    expect(() => read('{"error":{"message":"busy","code":503}}')).toThrow(BackendError);
  });
});

describe('the answer of a guard model', () => {
  const guard = Guard.parse({});

  it.each([
    ['safe', false, []],
    ['\n\nsafe\n', false, []],
    ['unsafe\nS1', true, ['violence', 'illicit/violent']],
    ['unsafe\nS10, S11', true, ['hate', 'self-harm']],
    ['unsafe\nS99', true, []],
    ['unsafe\nconstructor', true, []],
    ['unsafe', true, []],
  ])('is a verdict: %j', (answer, flagged, names) => {
    expect(guardVerdict(answer, guard)).toEqual({
      flagged,
      categories: Object.fromEntries(names.map((name) => [name, true])),
      scores: Object.fromEntries(names.map((name) => [name, 1])),
    });
  });

  it.each([
    '',
    'Safe',
    'safe and sound',
    'unsafe\nS1 because',
    'I cannot help with that.',
    'safe\nunsafe',
    'safe\nS1',
  ])('is rejected if it is neither safe nor unsafe: %j', (answer) => {
    expect(() => guardVerdict(answer, guard)).toThrow('neither safe nor unsafe');
  });

  it('has the categories of the catalogue', () => {
    const own = Guard.parse({ categories: { O1: ['sexual/minors'] } });
    expect(guardVerdict('unsafe\nO1', own).categories).toEqual({ 'sexual/minors': true });
  });
});
