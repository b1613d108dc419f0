import type { Structures } from './writer.js';
import { footer, header, page } from './parts.js';

/** Documentation of software, laws and other rules. */
export const documentation: Structures = {
  'menu on the left, contents on the right': (w) =>
    page(
      w,
      `${header(w)}<div class="layout"><div class="docs-nav"><ul>${w.each(4, () => `<li>${w.n()}<ul>${w.links(5)}</ul></li>`)}</ul></div><main><h1>${w.x()}</h1>${w.p()}<h2>${w.w()}</h2>${w.p()}<pre><code>${w.w(4)}(\n  ${w.w(2)}\n);</code></pre>${w.ps(3)}</main><div class="toc"><ul>${w.links(6)}</ul></div></div>${footer(w)}`,
    ),
  'reference of definitions': (w) =>
    page(
      w,
      `<div id="nav">${w.links(20, 'div')}</div><div id="content"><h1>${w.x()}</h1><dl>${w.each(10, () => `<dt><code>${w.w(2)}</code></dt><dd>${w.s()}</dd>`)}</dl></div>`,
    ),
  'generated manual': (w) =>
    page(
      w,
      `<div class="related" role="navigation"><ul>${w.links(5)}</ul></div><div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main"><section><h1>${w.x()}</h1>${w.p()}<section><h2>${w.w()}</h2>${w.ps(3)}<div class="highlight"><pre>${w.w(6)}</pre></div></section></section></div></div></div><div class="sphinxsidebar" role="navigation"><h3>${w.n()}</h3><ul>${w.links(8)}</ul></div></div><div class="footer">${w.ns()}</div>`,
    ),
  'summaries of methods': (w) =>
    page(
      w,
      `<div class="topNav"><ul>${w.links(6)}</ul></div><div class="contentContainer"><h2>${w.x()}</h2><div class="block">${w.t()}</div><table class="memberSummary"><caption>${w.w(2)}</caption>${w.each(8, () => `<tr><td><code>${w.w(1)}</code></td><td><code><a href="#m">${w.w(2)}</a></code><div class="block">${w.s()}</div></td></tr>`)}</table></div><div class="bottomNav"><ul>${w.links(6)}</ul></div>`,
    ),
  'read-me of a repository': (w) =>
    page(
      w,
      `<div class="AppHeader">${w.links(12, 'span')}</div><div class="file-tree"><table>${w.each(10, () => `<tr><td><a href="/f">${w.n(2)}</a></td><td><a href="/c">${w.n(3)}</a></td></tr>`)}</table></div><article class="markdown-body"><h1>${w.x()}</h1>${w.p()}<h2>${w.w()}</h2><ul>${w.each(5, () => `<li>${w.s()}</li>`)}</ul><pre><code>${w.w(5)}</code></pre>${w.ps(2)}</article><div class="Layout-sidebar"><h2>${w.n()}</h2><p>${w.ns()}</p>${w.links(5, 'div')}</div>${footer(w)}`,
    ),
  'manual page as it is typed': (w) =>
    page(
      w,
      `<p>${w.links(4, 'span')}</p><pre>\nNAME\n       ${w.w(4)}\n\nDESCRIPTION\n       ${w.t(8)}\n\nOPTIONS\n       ${w.t(8)}\n</pre><p>${w.links(4, 'span')}</p>`,
    ),
  'questions that open': (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1>${w.each(8, () => `<details><summary>${w.s(6)}</summary><p>${w.t(2)}</p></details>`)}</main>${footer(w)}`,
    ),
  changelog: (w) =>
    page(
      w,
      `${header(w)}<div class="container"><h1>${w.x()}</h1>${w.each(5, () => `<h2>${w.w(1)}</h2><ul>${w.each(5, () => `<li>${w.s(7)} <a href="/i">${w.w(1)}</a></li>`)}</ul>`)}</div>${footer(w)}`,
    ),
  'tabs of code': (w) =>
    page(
      w,
      `${header(w)}<div class="md-content"><article><h1>${w.x()}</h1>${w.each(3, () => `${w.p(2)}<div class="tabbed-set"><div class="tabbed-content"><pre><code>${w.w(5)}</code></pre></div></div>`)}</article></div><nav class="md-footer-nav">${w.links(2, 'span')}</nav>${footer(w)}`,
    ),
  encyclopaedia: (w) =>
    page(
      w,
      `<div id="mw-navigation"><ul>${w.links(20)}</ul></div><div id="content" class="mw-body"><h1>${w.x()}</h1><div id="mw-content-text"><table class="infobox">${w.each(4, () => `<tr><th>${w.w(1)}</th><td>${w.w(2)}</td></tr>`)}</table>${w.ps(2)}<div id="toc" class="toc"><h2>${w.n(1)}</h2><ul>${w.links(6)}</ul></div>${w.each(3, () => `<h2>${w.w(2)}<span class="mw-editsection">[<a href="/e">${w.n(1)}</a>]</span></h2>${w.each(2, () => `<p>${w.t(2)}<a href="/w">${w.w(2)}</a> ${w.s()}</p>`)}`)}<div class="navbox"><table><tr><td>${w.links(12, 'span')}</td></tr></table></div></div></div>${footer(w)}`,
    ),
  'law in nested lists': (w) =>
    page(
      w,
      `${header(w)}<div class="law"><h1>${w.x()}</h1><ol>${w.each(4, () => `<li>${w.s()}<ol>${w.each(3, () => `<li>${w.s()}</li>`)}</ol></li>`)}</ol></div>${footer(w)}`,
    ),
  'specification with tables': (w) =>
    page(
      w,
      `<div class="head"><p>${w.links(5, 'span')}</p></div><section><h2>${w.w(2)}</h2>${w.ps(2)}<table class="def">${w.each(7, () => `<tr><td>${w.w(1)}</td><td>${w.w(2)}</td><td>${w.s(8)}</td></tr>`)}</table></section><section><h2>${w.w(2)}</h2>${w.ps(2)}</section>${footer(w)}`,
    ),
  'terms of use': (w) =>
    page(w, `${header(w)}<main>${w.each(8, (n) => `<h3>${n}. ${w.w(3)}</h3>${w.p(3)}`)}</main>${footer(w)}`),
};
