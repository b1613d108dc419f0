// Runs before every file of end-to-end tests: validates each response, with its status, headers, body and
// stream events, against the published descriptions.
import assert from 'node:assert/strict';
import { afterAll } from 'vitest';
import { ResponseCheck } from './response-check.js';

const check = new ResponseCheck();
const { fetch: ask } = globalThis;
globalThis.fetch = async (input, init) => {
  const response = await ask(input, init);
  return check.look(init?.method ?? (input instanceof Request ? input.method : 'GET'), response);
};

afterAll(async () => {
  // The next file of this worker installs it again.
  globalThis.fetch = ask;
  assert.deepEqual(await check.faults(), []);
});
