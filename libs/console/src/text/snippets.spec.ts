import { describe, expect, it } from 'vitest';
import { pythonOf } from './snippets.js';

describe('a request in Python', () => {
  it('has its words for true, false and null, and the texts of JSON', () => {
    const value = { on: true, off: false, none: null, list: [1, 'a "b"\n'], empty: {}, nothing: [] };
    expect(pythonOf(value)).toBe(`{
    "on": True,
    "off": False,
    "none": None,
    "list": [
        1,
        "a \\"b\\"\\n",
    ],
    "empty": {},
    "nothing": [],
}`);
  });
});
