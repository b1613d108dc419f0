import type { Structures } from './writer.js';
import { footer, header, page, sidebar } from './parts.js';

/** Content in rows and items. */
export const tables: Structures = {
  'cards of products': (w) =>
    page(
      w,
      `${header(w)}<div class="filters"><form>${w.each(6, () => `<label><input type="checkbox">${w.n(1)}</label>`)}</form></div><div class="grid">${w.each(9, () => `<div class="product"><a href="/p"><h3>${w.w(3)}</h3></a><p>${w.s()}</p><span class="price">${w.w(1)}</span><button>${w.n(2)}</button></div>`)}</div><div class="pagination">${w.links(5, 'span')}</div>${footer(w)}`,
    ),
  'one product': (w) =>
    page(
      w,
      `${header(w)}<div class="breadcrumbs">${w.links(3, 'span')}</div><div class="product-page"><h1>${w.x()}</h1><div class="description">${w.ps(3)}</div><table class="specs">${w.each(8, () => `<tr><th>${w.w(1)}</th><td>${w.w(2)}</td></tr>`)}</table></div><div class="related-products"><h2>${w.n()}</h2>${w.each(5, () => `<div><a href="/p">${w.n(4)}</a></div>`)}</div>${footer(w)}`,
    ),
  schedule: (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1><table>${w.each(15, () => `<tr>${w.each(4, () => `<td>${w.w(2)}</td>`)}</tr>`)}</table></main>${footer(w)}`,
    ),
  'schedule without any main': (w) =>
    page(
      w,
      `<div class="bar">${w.links(8, 'span')}</div><h1>${w.x()}</h1><table>${w.each(15, () => `<tr>${w.each(4, () => `<td>${w.w(2)}</td>`)}</tr>`)}</table><div class="legal">${w.ns()}</div>`,
    ),
  'links with a word about each': (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1><ul>${w.each(12, () => `<li><a href="/l">${w.w(3)}</a><p>${w.s(10)}</p></li>`)}</ul></main>${sidebar(w)}${footer(w)}`,
    ),
  'links and nothing else': (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1><ul>${w.each(25, () => `<li><a href="/l">${w.w(5)}</a></li>`)}</ul></main>${footer(w)}`,
    ),
  glossary: (w) =>
    page(
      w,
      `${header(w)}<div class="glossary"><h1>${w.x()}</h1><div class="letters">${w.links(10, 'span')}</div><dl>${w.each(12, () => `<dt>${w.w(2)}</dt><dd>${w.s()}</dd>`)}</dl></div>${footer(w)}`,
    ),
  'ranking with a paragraph each': (w) =>
    page(
      w,
      `${header(w)}<article><h1>${w.x()}</h1>${w.p(2)}${w.each(7, (n) => `<h2>${n}. ${w.w(3)}</h2><img src="i.jpg">${w.p(3)}<p><a class="button" href="/b">${w.n(3)}</a></p>`)}</article>${footer(w)}`,
    ),
  'job advertisement': (w) =>
    page(
      w,
      `${header(w)}<section class="job"><h1>${w.x()}</h1>${w.p(3)}<h3>${w.w(2)}</h3><ul>${w.each(6, () => `<li>${w.s(9)}</li>`)}</ul><h3>${w.w(2)}</h3><ul>${w.each(6, () => `<li>${w.s(9)}</li>`)}</ul><a class="apply" href="/a">${w.n(2)}</a></section><section class="similar-jobs"><h2>${w.n()}</h2><ul>${w.links(6)}</ul></section>${footer(w)}`,
    ),
  'menus that are tables': (w) =>
    page(
      w,
      `<table width="100%"><tr><td>${w.links(8, 'font')}</td></tr></table><table><tr><td width="20%"><table>${w.each(9, () => `<tr><td><a href="/t">${w.n(2)}</a></td></tr>`)}</table></td><td><h1>${w.x()}</h1>${w.ps(5)}<table border="1">${w.each(5, () => `<tr><td>${w.w(2)}</td><td>${w.w(1)}</td></tr>`)}</table></td></tr></table><table><tr><td>${w.ns()}</td></tr></table>`,
    ),
  'prices beside each other': (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1><div class="plans">${w.each(3, () => `<div class="plan"><h2>${w.w(2)}</h2><p>${w.s(6)}</p><ul>${w.each(5, () => `<li>${w.w(3)}</li>`)}</ul><a class="cta-button" href="/s">${w.n(2)}</a></div>`)}</div></main>${footer(w)}`,
    ),
  'address and opening hours': (w) =>
    page(
      w,
      `${header(w)}<div class="contact"><h1>${w.x()}</h1><address>${w.w(6)}</address><table>${w.each(7, () => `<tr><td>${w.w(1)}</td><td>${w.w(2)}</td></tr>`)}</table>${w.p(2)}</div>${footer(w)}`,
    ),
};
