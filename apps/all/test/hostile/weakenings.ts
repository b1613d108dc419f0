import type { Weakening } from './weakening.js';

/** Deliberate faults, at least one for each class of hostile tests, each of which must make its test fail. */
export const WEAKENINGS: readonly Weakening[] = [
  {
    name: 'quadratic-check',
    file: 'messages.hostile.ts',
    test: 'takes time in proportion to the length of a message',
    module: 'libs/gateway/dist/request/request-text.js',
    find: 'const json = new KnownJson(text);',
    replace: `for (let at = 0; at < text.length; at += 256) text.slice(at).split('\\n');
    const json = new KnownJson(text);`,
  },
  {
    name: 'parsed-at-once',
    file: 'requests.hostile.ts',
    test: 'an unknown member of letters in escapes',
    module: 'libs/runtime/dist/http/json-parse.js',
    find: 'text.length <= SMALL ? JSON.parse(text)',
    replace: 'text.length > 0 ? JSON.parse(text)',
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
  {
    name: 'backend-stalls',
    file: 'backends.hostile.ts',
    test: 'is survived in time: silence in its head',
    module: 'libs/router/dist/exchange.js',
    find: 'this.deadline = setTimeout(() => this.abort(new ExchangeTimedOut(ms)), ms);',
    replace: ';',
  },
  {
    name: 'backend-floods',
    file: 'backends.hostile.ts',
    test: 'is survived in time: a body without end',
    module: 'libs/router/dist/exchange.js',
    find: 'if (size > limitBytes) {',
    replace: 'if (size > limitBytes * 1e6) {',
  },
  {
    name: 'backend-cuts',
    file: 'backends.hostile.ts',
    test: 'is survived in time: an end without its',
    module: 'libs/gateway/dist/answer/backend-events.js',
    find: `throw new Problem('INFERENCE_FAILED', { cause: new Error('the stream ended before its [DONE]') });`,
    replace: 'return [];',
  },
  {
    name: 'backend-writes',
    file: 'backends.hostile.ts',
    test: 'is survived in time: two .DONE.s, and an answer',
    module: 'libs/gateway/dist/answer/backend-events.js',
    find: 'return events.slice(0, end);',
    replace: 'return events.filter((event) => event !== DONE);',
  },
  {
    name: 'backend-words-to-clients',
    file: 'backends.hostile.ts',
    test: 'reaches no client in its own words, and no log: 400',
    module: 'libs/router/dist/backend-refusal.js',
    find: 'callers(invalidRequest(told, cause))',
    replace: `callers(new Problem('INVALID_REQUEST', { message: told.message, cause }))`,
  },
  {
    name: 'backend-words-to-logs',
    file: 'backends.hostile.ts',
    test: 'reaches no client in its own words, and no log: 500',
    module: 'libs/router/dist/backend-refusal.js',
    find: 'redacted(told.message ?? body, sent)',
    replace: 'told.message',
  },
  {
    name: 'backend-long-lines',
    file: 'backends.hostile.ts',
    test: 'is in proportion to the length of a line, however small its pieces',
    module: 'libs/gateway/dist/answer/backend-events.js',
    find: 'this.parser.feed(text);',
    replace: `this.all = (this.all ?? '') + text;
            for (let at = 0; at < this.all.length; at += 1) if (this.all.charCodeAt(at) === 0) break;
            this.parser.feed(text);`,
  },
];
