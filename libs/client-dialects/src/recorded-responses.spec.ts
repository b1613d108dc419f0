import { describe, expect, it } from 'vitest';
import { backendCases } from '../test/backend-streams.js';
import { digestsOf } from '../test/served-response.js';

describe('the responses to clients of every dialect', () => {
  // After a change that clients are meant to see, `npx vitest run -u` records them again.
  it('have the same bytes, counts and ends as when they were recorded, whatever the backend sends', async () => {
    const lines: string[] = [];
    for (const [at, given] of backendCases(500).entries()) lines.push(`${at}: ${await digestsOf(given)}\n`);
    await expect(lines.join('')).toMatchFileSnapshot('../test/recorded-responses.txt');
  });
});
