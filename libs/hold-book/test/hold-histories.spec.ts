import { repeats } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { MemoryHoldBook } from '../src/memory-hold-book.js';
import type { HoldBookSubject } from './hold-book-subject.js';
import { holdHistories, seed } from './hold-fixture.js';

const subject: HoldBookSubject = {
  name: 'the hold book in memory',
  make: (reads, options) => new MemoryHoldBook(reads, { maxAccounts: 2, ...options }),
  size: (book) => Promise.resolve((book as MemoryHoldBook).size),
};

describe(`random histories of the hold book in memory (seed ${seed})`, () => {
  it('hold no more than the balance, lose no charge, and release everything', async () => {
    await expect(holdHistories(repeats('HOLD_HISTORIES'), subject)).resolves.toBeUndefined();
  }, 120_000);
});
