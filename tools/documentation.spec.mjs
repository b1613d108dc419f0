// Walks the documentation for developers: every symbol, file, command and setting that it names exists, and
// its symbols are in the files that it links.
import { readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allFiles, isCode, read, withoutComments } from './check-sources.mjs';

const files = allFiles();
const code = files.filter((path) => isCode(path) && path !== 'tools/documentation.spec.mjs');
const sources = [...code, ...files.filter((path) => /(?:^|\/)(?:package|project)\.json$/.test(path))];
const identifiers = new Set(
  sources.flatMap((path) => withoutComments(read(path)).match(/[A-Za-z_$][\w$]*/g) ?? []),
);
/** The paths of all routes, as patterns: a parameter is anything, such as `ID`, `{id}` or an example. */
const routes = code
  .filter((path) => path.startsWith('libs/api/src/'))
  .flatMap((path) => Array.from(read(path).matchAll(/path: '(\/[^']*)'/g), ([, route]) => patternOf(route)));

function patternOf(route) {
  const parts = route
    .split('/')
    .map((part) => (/^(?:\{.*\}|:.*)$/.test(part) ? '[^/]+' : RegExp.escape(part)));
  return new RegExp(`^${parts.join('/')}$`);
}

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const folders = new Set(files.flatMap((path) => prefixes(path)));

function prefixes(path) {
  const parts = path.split('/');
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('/'));
}

const PAGES = files.filter((path) =>
  /^(docs\/[\w-]+|CONTRIBUTING|(?:libs|apps)\/[\w-]+\/README)\.md$/.test(path),
);

const prose = (text) => text.replaceAll(/^(```|~~~)[\s\S]*?^\1/gm, (block) => block.replaceAll(/[^\n]/g, ''));
const spansOf = (text) => Array.from(prose(text).matchAll(/(?<!`)`([^`\n]+)`(?!`)/g), ([, span]) => span);

/** Links whose text is code, and files that they lead to. */
const linksOf = (path, text) =>
  Array.from(prose(text).matchAll(/\[`([^`\]]+)`\]\(([^)#\s]+)[^)]*\)/g), ([, span, target]) => [
    span,
    posix.join(dirname(path), target),
  ]);

/** Whether a file declares a symbol, or a class with this member. */
function declares(path, symbol) {
  const [owner, ...members] = symbol.replace(/\(.*$/, '').split('.');
  const text = withoutComments(read(path));
  const isThere = new RegExp(`\\b(?:class|interface|type|enum|function|const|let)\\s+${owner}\\b`).test(text);
  return isThere && members.every((member) => new RegExp(`^\\s+(?:[\\w ]+ )?${member}\\b`, 'm').test(text));
}

/** True for a span that can only be a symbol: `Catalog.ofType`, `chargeLine(…)`, `LIMIT_UNITS`. */
const isSymbol = (span) =>
  /^(?:[A-Z][a-z]\w*[A-Z]\w*|[A-Z]\w*\.[a-z]\w*|[a-z]+[A-Z]\w*)(?:\(.*\))?$/.test(span) ||
  /^[A-Z]{2,}(?:_[A-Z\d]+)+$/.test(span);

/** Pages about the code only; others also name the words of other programs and of protocols. */
const GUIDES = ['docs/development.md', 'CONTRIBUTING.md', 'docs/architecture.md'];

it('finds pages with symbols, links, commands and files', () => {
  expect(PAGES.length).toBeGreaterThan(30);
  const guide = read('docs/development.md');
  expect(linksOf('docs/development.md', guide).length).toBeGreaterThan(5);
  expect(spansOf(guide).filter(isSymbol).length).toBeGreaterThan(10);
  expect(declares('tools/check-sources.mjs', 'allFiles')).toBe(true);
  expect(declares('tools/check-sources.mjs', 'someFiles')).toBe(false);
  expect(declares('libs/text/src/chat/completions.ts', 'Completions.answer')).toBe(false);
});

describe.each(PAGES)('%s', (path) => {
  const text = read(path);

  it('links symbols to the files that declare them', () => {
    const wrong = linksOf(path, text).filter(
      ([span, target]) => isCode(target) && isSymbol(span) && !declares(target, span),
    );
    expect(wrong).toEqual([]);
  });

  it('names only scripts that exist', () => {
    const named = Array.from(text.matchAll(/npm run (?:--silent )?([\w:-]+)/g), ([, script]) => script);
    expect(named.filter((script) => !scripts[script])).toEqual([]);
  });

  it('names only files and folders that exist', () => {
    const named = spansOf(text)
      .filter((span) => !span.includes('NNNN'))
      .map((span) => /^((?:libs|apps|tools|docs|deploy|prisma)\/[\w./-]*\w)\/?$/.exec(span)?.[1])
      .filter(Boolean);
    expect(named.filter((name) => !files.includes(name) && !folders.has(name))).toEqual([]);
  });

  it('names only routes that exist', () => {
    const named = spansOf(text)
      .map((span) => /^(?:[A-Z]+ )?(\/(?:api|operator)\/v1\/[\w/{}:.-]*[\w}])(?:\?\S*)?$/.exec(span)?.[1])
      .filter(Boolean);
    expect(named.filter((route) => !routes.some((pattern) => pattern.test(route)))).toEqual([]);
  });
});

it.each(GUIDES)('%s names only symbols that the code has', (path) => {
  const named = spansOf(read(path)).filter(isSymbol);
  const words = named.flatMap((span) => span.replace(/\(.*$/, '').split('.'));
  expect(words.filter((word) => !identifiers.has(word))).toEqual([]);
});

it('CONTRIBUTING.md has the suffixes of files and the numbers of parameters that the checks allow', async () => {
  const text = read('CONTRIBUTING.md').replaceAll('\n', ' ');
  const [, words] = /new Set\(\s*'([^']+)'/.exec(read('tools/check-names.mjs'));
  for (const suffix of words.split(' ').filter((word) => word !== 'd'))
    expect(text).toMatch(new RegExp(`[\`\\s]\\.${suffix}[\`\\s]`));
  const [, own, constructors] = /function: (\d+), constructor: (\d+)/.exec(read('tools/lint/rules.mjs'));
  expect(text).toMatch(
    new RegExp(`a function ${own} parameters, and a constructor, [^.]*, ${constructors}\\.`),
  );
});
