import { expect, it } from 'vitest';
import { expiring } from './expiring.js';

/** A value that lives 100 ms of a clock that the test sets, and how often it was fetched. */
function fixture() {
  const state = { nowMs: 0, fetches: 0, fails: false };
  const get = expiring(
    () => {
      state.fetches += 1;
      if (state.fails) return Promise.reject(new Error('down'));
      return Promise.resolve({ value: state.fetches, lifetimeMs: 100 });
    },
    () => state.nowMs,
  );
  return { state, get };
}

it('a value is fetched once for calls at the same time, and again after half of its lifetime', async () => {
  const { state, get } = fixture();
  expect(await Promise.all([get(), get()])).toEqual([1, 1]);
  state.nowMs = 49;
  expect(await get()).toBe(1);
  state.nowMs = 50;
  expect(await Promise.all([get(), get()])).toEqual([2, 2]);
  expect(state.fetches).toBe(2);
});

it('while fetches fail, the previous value is used until it expires, and not longer', async () => {
  const { state, get } = fixture();
  await get();
  Object.assign(state, { nowMs: 99, fails: true });
  expect(await get()).toBe(1);
  state.nowMs = 100;
  await expect(get()).rejects.toThrow('down');
  state.fails = false;
  expect(await get()).toBe(4);
});
