import type { Weakening } from './weakening.js';

/** Deliberate faults, at least one for each class of hostile tests, each of which must make its test fail. */
export const WEAKENINGS: readonly Weakening[] = [
  {
    name: 'quadratic-check',
    file: 'messages.hostile.ts',
    test: 'takes time in proportion to the length of a message',
    module: 'libs/gateway/dist/request/request-bounds.js',
    find: 'const [field, members] = largestField(value);',
    replace: `for (let at = 0; at < text.length; at += 256) text.slice(at).split('\\n');
    const [field, members] = largestField(value);`,
  },
  {
    name: 'unbounded-values',
    file: 'extremes.hostile.ts',
    test: 'at the bounds of their schemas',
    module: 'libs/contracts/dist/problems/validate.js',
    find: 'if (result.success)',
    replace: `if (!result.success && result.error.issues.every(({ code }) => code === 'too_big'))
        return value;
    if (result.success)`,
  },
];
