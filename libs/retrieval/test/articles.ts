import type { Structures } from './writer.js';
import { footer, header, page, sidebar } from './parts.js';

/** News, blogs and other continuous text. */
export const articles: Structures = {
  semantic: (w) =>
    page(
      w,
      `${header(w)}<main><article><h1>${w.x()}</h1><p class="byline">${w.x()}</p>${w.ps(6)}</article></main>${sidebar(w)}${footer(w)}`,
    ),
  'div soup': (w) =>
    page(
      w,
      `<div id="top"><div class="menu">${w.links(8, 'span')}</div></div><div id="wrap"><div class="col-a"><h1>${w.x()}</h1>${w.ps(6)}</div><div class="col-b"><h3>${w.n()}</h3><ul>${w.links(9)}</ul></div></div><div id="bottom">${w.ns()}</div>`,
    ),
  'news with promotions in the text': (w) =>
    page(
      w,
      `${header(w)}<article><h1>${w.x()}</h1><div class="share-bar">${w.links(4, 'span')}</div><figure><img src="a.jpg"><figcaption>${w.x(5)}</figcaption></figure>${w.ps(2)}<div class="related-box"><h4>${w.n()}</h4><ul>${w.links(3)}</ul></div>${w.ps(3)}<aside class="newsletter"><h3>${w.n()}</h3><p>${w.ns()}</p><form><input><button>${w.n(1)}</button></form></aside>${w.ps(2)}</article>${footer(w)}`,
    ),
  'long form in sections': (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1>${w.each(5, () => `<section><h2>${w.w()}</h2>${w.ps(3)}</section>`)}</main>${footer(w)}`,
    ),
  'blog with comments': (w) =>
    page(
      w,
      `${header(w)}<div class="hfeed"><div class="post hentry"><h2 class="entry-title">${w.x()}</h2><div class="entry-content">${w.ps(6)}</div><div class="post-tags">${w.links(5, 'span')}</div><div class="author-bio"><h4>${w.n()}</h4><p>${w.ns()}</p></div></div><div id="comments"><h3>${w.n()}</h3><ol class="commentlist">${w.each(4, () => `<li class="comment"><cite>${w.n()}</cite><p>${w.ns()}</p></li>`)}</ol></div></div>${sidebar(w)}${footer(w)}`,
    ),
  'magazine with quotes drawn out': (w) =>
    page(
      w,
      `${header(w)}<div class="story"><h1>${w.x()}</h1><p class="lede"><span class="dropcap"></span>${w.t(3)}</p>${w.ps(3)}<blockquote>${w.s()}</blockquote>${w.ps(3)}<p><em>${w.s()}</em></p></div><div class="more-stories"><h2>${w.n()}</h2>${w.each(4, () => `<div class="card"><a href="/c"><h3>${w.n(4)}</h3></a><p>${w.ns()}</p></div>`)}</div>${footer(w)}`,
    ),
  recipe: (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1>${w.p(2)}<h2>${w.w(1)}</h2><ul>${w.each(9, () => `<li>${w.w(3)}</li>`)}</ul><h2>${w.w(1)}</h2><ol>${w.each(6, () => `<li>${w.s()}</li>`)}</ol></main><div class="recommended-recipes"><ul>${w.links(6)}</ul></div>${footer(w)}`,
    ),
  'press release': (w) =>
    page(
      w,
      `<div class="navbar">${w.links(6, 'span')}</div><div class="release"><h1>${w.x()}</h1><p><strong>${w.w(2)}</strong> — ${w.t(3)}</p>${w.ps(2)}<table><tr><th>${w.w(1)}</th><th>${w.w(1)}</th></tr>${w.each(5, () => `<tr><td>${w.w(2)}</td><td>${w.w(1)}</td></tr>`)}</table>${w.ps(2)}</div>${footer(w)}`,
    ),
  interview: (w) =>
    page(
      w,
      `${header(w)}<article><h1>${w.x()}</h1>${w.p(2)}${w.each(6, () => `<p><b>${w.s(8)}</b></p>${w.p(3)}`)}</article>${sidebar(w)}${footer(w)}`,
    ),
  'live blog of several articles': (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1>${w.each(6, () => `<article><h2>${w.w(4)}</h2>${w.ps(2, 3)}<div class="share">${w.links(2, 'span')}</div></article>`)}</main>${footer(w)}`,
    ),
  'text in parts beside each other': (w) =>
    page(
      w,
      `${header(w)}<div class="page"><h1>${w.x()}</h1><div class="block">${w.ps(2)}</div><div class="ad-slot">${w.ns()}</div><div class="block">${w.ps(2)}</div><div class="ad-slot">${w.ns()}</div><div class="block">${w.ps(2)}</div></div>${footer(w)}`,
    ),
  'teaser before a paywall': (w) =>
    page(
      w,
      `${header(w)}<article><h1>${w.x()}</h1>${w.ps(3)}<div class="paywall"><h2>${w.n(4)}</h2><p>${w.ns()}${w.ns()}</p><a href="/buy">${w.n(2)}</a></div></article>${footer(w)}`,
    ),
  'short text under long menus': (w) =>
    page(
      w,
      `<nav><ul>${w.links(60)}</ul></nav><div class="content"><h1>${w.x()}</h1>${w.ps(2, 3)}</div><footer>${w.links(40, 'span')}</footer>`,
    ),
  'all in one form': (w) =>
    page(
      w,
      `<form id="aspnetForm" action="/"><div class="header">${w.links(7, 'span')}</div><div id="ctl00_main"><h1>${w.x()}</h1>${w.ps(6)}</div><div class="footer">${w.ns()}</div></form>`,
    ),
  'misleading names': (w) =>
    page(
      w,
      `${header(w)}<div class="sidebar-layout has-banner"><div class="content-with-sidebar"><h1>${w.x()}</h1>${w.ps(6)}</div></div>${footer(w)}`,
    ),
  'share buttons in the head of the article': (w) =>
    page(
      w,
      `${header(w)}<article><header><h1>${w.x()}</h1><p class="summary">${w.s()}</p><ul class="social">${w.links(5)}</ul></header>${w.ps(5)}<footer><p>${w.ns()}</p></footer></article>${footer(w)}`,
    ),
  'hashed class names': (w) =>
    page(
      w,
      `<div class="css-1ab"><div class="css-2cd">${w.links(9, 'span')}</div></div><div class="css-3ef"><div class="css-4gh"><h1>${w.x()}</h1><div class="css-5ij">${w.each(7, () => `<div class="css-6kl">${w.t(3)}</div>`)}</div></div><div class="css-7mn">${w.each(5, () => `<a href="/r"><div>${w.n(5)}</div></a>`)}</div></div><div class="css-8op">${w.links(12, 'span')}</div>`,
    ),
  'essay with footnotes': (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1>${w.each(5, (n) => `<p>${w.t(3)}<sup><a href="#f${n}">${n}</a></sup>${w.s()}</p>`)}<hr><ol class="footnotes">${w.each(5, (n) => `<li id="f${n}">${w.s(7)}</li>`)}</ol></main>${footer(w)}`,
    ),
  'gallery with captions': (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1>${w.p(2)}${w.each(6, () => `<figure><img src="g.jpg" alt=""><figcaption>${w.s()}</figcaption></figure>`)}</main>${footer(w)}`,
    ),
};
