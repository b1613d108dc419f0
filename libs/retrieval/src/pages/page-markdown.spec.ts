import { describe, expect, it } from 'vitest';
import { pageMarkdown } from './page-markdown.js';

const read = (html: string, contentType = 'text/html; charset=utf-8') =>
  pageMarkdown({ bytes: Buffer.from(html), contentType, url: 'https://a.example/b/c', textLimit: 100_000 });

const PROSE = Array.from(
  { length: 6 },
  (_, n) =>
    `<p>Paragraph ${n} says, at some length and with commas, what the page is about and why it matters.</p>`,
).join('\n');

const BOILERPLATE_BEFORE = `
  <header class="site-header"><a href="/">Home</a><nav><ul><li><a href="/1">NOISE products</a></li></ul></nav></header>
  <div id="cookie-consent"><p>NOISE We value your privacy. Accept all cookies?</p><button>NOISE Accept</button></div>
  <div class="breadcrumbs"><a href="/">NOISE home</a> › <a href="/b">NOISE b</a></div>`;
const BOILERPLATE_AFTER = `
  <aside><h3>NOISE Related</h3><ul><li><a href="/r1">NOISE one</a></li><li><a href="/r2">NOISE two</a></li></ul></aside>
  <div class="share-buttons"><a href="/s">NOISE Share</a></div>
  <form><p>NOISE Subscribe to our newsletter</p><input></form>
  <footer><p>NOISE All rights reserved.</p></footer><script>NOISE()</script><div style="display:none">NOISE</div>`;

const page = (main: string, head = '') =>
  `<!doctype html><html lang="en"><head><title>The title</title>${head}</head><body>${BOILERPLATE_BEFORE}${main}${BOILERPLATE_AFTER}</body></html>`;

describe('a page', () => {
  it.each([
    ['an article', page(`<article><h1>Heading</h1>${PROSE}</article>`)],
    ['a main', page(`<main><h1>Heading</h1>${PROSE}</main>`)],
    ['blocks without names', page(`<div><div class="x"><h1>Heading</h1><div>${PROSE}</div></div></div>`)],
    ['tables for layout', page(`<table><tr><td>${PROSE}</td></tr></table>`)],
    ['a heading beside its text', page(`<div><h1>Heading</h1><div class="text">${PROSE}</div></div>`)],
    ['a name that sounds like noise around all of it', page(`<div class="page sidebar-left">${PROSE}</div>`)],
    ['broken markup', page(`<div><h1>Heading<p>${PROSE}</div></p></b><div`)],
  ])('is read completely and without boilerplate, as %s', (_, html) => {
    const { text, title } = read(html);
    for (let n = 0; n < 6; n += 1) expect(text).toContain(`Paragraph ${n} says`);
    expect(text).not.toContain('NOISE');
    expect(title).toBe('The title');
  });

  it('keeps headings, lists, tables, code and links as Markdown, with complete URLs', () => {
    const { text } = read(
      page(
        `<article><h1>Heading</h1>${PROSE}<ul><li>one</li><li>two</li></ul><table><tr><th>A</th><th>B</th></tr>` +
          `<tr><td>1</td><td>2</td></tr></table><pre><code class="language-js">let x = 1 &lt; 2;</code></pre>` +
          `<p>See <a href="/d">there</a> for more of what is said here.</p></article>`,
      ),
    );
    expect(text).toContain('# Heading');
    expect(text).toMatch(/[-*] one\n[-*] two/);
    expect(text).toContain('| A | B |');
    expect(text).toContain('let x = 1 < 2;');
    expect(text).toContain('[there](https://a.example/d)');
  });

  it('includes all posts of a forum, and comments that are the content', () => {
    const posts = Array.from(
      { length: 5 },
      (_, n) =>
        `<div class="post"><div class="author">ann</div><div class="body"><p>Answer ${n} tells in whole sentences what to do, step by step.</p></div></div>`,
    ).join('');
    const { text } = read(page(`<div class="thread">${posts}</div>`));
    for (let n = 0; n < 5; n += 1) expect(text).toContain(`Answer ${n}`);
    expect(text).not.toContain('NOISE');
  });

  it('has its title and publication date', () => {
    const head =
      '<meta property="og:title" content="Shown &amp; told"><meta property="article:published_time" content="2025-04-16T16:55:11Z">';
    expect(read(page(`<article>${PROSE}</article>`, head))).toMatchObject({
      title: 'Shown & told',
      date: '2025-04-16T16:55:11Z',
    });
  });

  it.each([
    ['windows-1251', 'text/html', '<meta charset="windows-1251"><p>\xcf\xf0\xe8\xe2\xe5\xf2</p>', 'Привет'],
    ['shift_jis', 'text/html; charset=Shift_JIS', '<p>\x93\xfa\x96\x7b</p>', '日本'],
    ['nothing that there is', 'text/html; charset=x-none', '<p>gr\xfc\xdfe</p>', 'grüße'],
  ])('is decoded with its declared encoding: %s', (...[, contentType, latin1, says]) => {
    const bytes = Buffer.from(latin1, 'latin1');
    expect(pageMarkdown({ bytes, contentType, url: 'https://a.example/', textLimit: 1_000 }).text).toBe(says);
  });

  it.each([
    ['<div id="root"></div><script src="/app.js"></script>', true],
    ['<div id="app"><p>Loading…</p></div><script src="/app.js"></script>', true],
    ['<nav><a href="/">Home</a></nav><div id="__next"></div><script>go()</script>', true],
    ['<div id="root"></div><script type="application/ld+json">{}</script>', false],
    [`<div id="app"><p>${PROSE}</p></div><script src="/app.js"></script>`, false],
    ['<p>Short.</p><script src="/app.js"></script>', false],
  ])('shows whether its text is created by scripts: %.50s', (body, isShell) => {
    expect(read(`<html><body>${body}</body></html>`).isShell).toBe(isShell);
  });

  it('is read in linear time, however hostile', () => {
    const timed = (html: string): number => {
      const startMs = performance.now();
      try {
        read(html);
      } catch {
        // Some have no text.
      }
      return performance.now() - startMs;
    };
    const plainMs = timed(page(PROSE.repeat(600)));
    for (const unit of [
      '<div>',
      '<b><i>',
      '<p>x',
      '<a href=x>',
      '<!--',
      '<table><tr><td>',
      '&lt;',
      '<div class="nav">x',
    ])
      expect(timed(unit.repeat(Math.ceil(400_000 / unit.length)))).toBeLessThan(30 * plainMs + 1_000);
  });
});
