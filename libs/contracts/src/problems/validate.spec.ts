import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Problem } from './problem.js';
import { validate, validateInSlices } from './validate.js';

let looked = 0;
const Item = z.object({ a: z.string() }).check(() => {
  looked += 1;
});
const Schema = z
  .looseObject({
    items: z.array(Item).min(1).max(2_000).nullish(),
    names: z
      .record(z.string().max(3), z.number())
      .refine((names) => Object.keys(names).length < 10, 'too many')
      .optional(),
    word: z.enum(['x', 'y']).optional(),
    either: z.union([z.string(), z.array(z.number())]).optional(),
  })
  .refine(({ word, items }) => word !== 'y' || items, { path: ['word'], error: 'y needs items' });

async function problemOf(act: () => unknown): Promise<unknown> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof Problem) return { issues: error.issues, param: error.param, message: error.message };
    throw error;
  }
}

describe('a value checked in slices', () => {
  it.each([
    { items: [{ a: 'b', more: 1 }], names: { a: 1 }, word: 'y', other: [1] },
    {},
    { items: null },
    { items: [] },
    { items: [{ a: 1 }, { a: 'b' }, 7] },
    { items: { a: 1 } },
    { names: { a: 'x', long_name: 1 } },
    { names: [1] },
    { word: 'y' },
    { word: 'z', either: [1, 'a'] },
    [],
    null,
    7,
  ])('is accepted or rejected like one checked at once: %j', async (value) => {
    const atOnce = await problemOf(() => validate(Schema, value));
    expect(await problemOf(() => validateInSlices(Schema, value))).toEqual(atOnce);
  });

  it('is not checked further once enough faults are found', async () => {
    looked = 0;
    const items = Array.from({ length: 2_000 }, () => ({ a: 1 }));
    await expect(validateInSlices(Schema, { items })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(looked).toBeLessThanOrEqual(100);
  });

  it('is not checked inside if it has too many elements', async () => {
    looked = 0;
    const items = Array.from({ length: 2_001 }, () => ({ a: 'b' }));
    const names = Object.fromEntries(items.map((_, at) => [`n${at}`, 'x']));
    const problem = await problemOf(() => validateInSlices(Schema, { items, names }));
    expect(problem).toMatchObject({
      issues: [{ path: ['items'] }, { path: ['names'], message: 'too many' }],
    });
    expect(looked).toBe(0);
  });

  it('yields to the event loop', async () => {
    let turns = 0;
    const turning = setInterval(() => (turns += 1), 0);
    const slow = z.object({ items: z.array(z.unknown().refine(() => work())) });
    await validateInSlices(slow, { items: Array.from({ length: 50 }, () => 1) });
    clearInterval(turning);
    expect(turns).toBeGreaterThan(3);
  });
});

/** Takes a millisecond. */
function work(): boolean {
  const endMs = performance.now() + 1;
  while (performance.now() < endMs);
  return true;
}
