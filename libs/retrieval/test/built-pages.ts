import type { Structures } from './writer.js';
import { footer, header, page, sidebar } from './parts.js';

/** Output of site builders and themes, with misleading names and order. */
export const builtPages: Structures = {
  'widgets of a page builder': (w) =>
    page(
      w,
      `${header(w)}<div class="elementor"><section class="elementor-section"><div class="elementor-widget elementor-widget-heading"><h1>${w.x()}</h1></div></section>${w.each(5, () => `<section class="elementor-section"><div class="elementor-container"><div class="elementor-widget elementor-widget-text-editor"><div class="elementor-widget-container">${w.ps(2)}</div></div></div></section>`)}</div>${footer(w)}`,
    ),
  'notes and tips beside the steps': (w) =>
    page(
      w,
      `${header(w)}<main><article><h1>${w.x()}</h1>${w.each(3, () => `${w.p(3)}<aside class="admonition note"><p>${w.s()}</p></aside>`)}${w.ps(2)}</article></main>${footer(w)}`,
    ),
  'more comments than text': (w) =>
    page(
      w,
      `${header(w)}<article class="post"><h1>${w.x()}</h1>${w.ps(3)}</article><section class="comments-area" id="comments"><h2>${w.n()}</h2><ol>${w.each(14, () => `<li><b>${w.n(1)}</b><p>${w.ns()}${w.ns()}</p></li>`)}</ol><form class="comment-form"><label>${w.n(2)}</label><textarea></textarea></form></section>${footer(w)}`,
    ),
  'teasers with more text than the article': (w) =>
    page(
      w,
      `${header(w)}<div class="single"><h1>${w.x()}</h1>${w.ps(3)}</div><div class="recommended"><h2>${w.n()}</h2>${w.each(8, () => `<div class="teaser"><h3><a href="/t">${w.n(5)}</a></h3><p>${w.ns()}${w.ns()}</p></div>`)}</div>${footer(w)}`,
    ),
  'banner with the first words': (w) =>
    page(
      w,
      `${header(w)}<section class="hero-banner"><h1>${w.x()}</h1><p>${w.t(2)}</p><a href="/go">${w.n(2)}</a></section>${w.each(4, () => `<section class="feature"><h2>${w.w(3)}</h2>${w.p(3)}</section>`)}${footer(w)}`,
    ),
  'legal text in the foot': (w) =>
    page(
      w,
      `${header(w)}<div class="entry"><h1>${w.x()}</h1>${w.ps(3)}</div><div class="site-footer"><div class="disclaimer">${w.each(8, () => `<p>${w.ns()}</p>`)}</div></div>`,
    ),
  'menu that describes': (w) =>
    page(
      w,
      `<div class="mega-menu">${w.each(10, () => `<div><a href="/m">${w.n(2)}</a><p>${w.ns()}</p></div>`)}</div><div class="content"><h1>${w.x()}</h1>${w.ps(5)}</div>${footer(w)}`,
    ),
  'two columns': (w) =>
    page(
      w,
      `${header(w)}<div class="row"><div class="col-md-6">${w.ps(4)}</div><div class="col-md-6">${w.ps(4)}</div></div>${footer(w)}`,
    ),
  'profile of a person': (w) =>
    page(
      w,
      `${header(w)}<main><div class="profile-header"><h1>${w.x()}</h1><p>${w.s()}</p></div><div class="tabs"><ul>${w.links(4)}</ul></div><section><h2>${w.w(1)}</h2>${w.p(3)}</section><section><h2>${w.w(1)}</h2><ul>${w.each(5, () => `<li><strong>${w.w(2)}</strong>, ${w.w(3)}</li>`)}</ul></section></main>${sidebar(w)}${footer(w)}`,
    ),
  'notes of a release': (w) =>
    page(
      w,
      `${header(w)}<div class="release-entry"><div class="tag-list"><a href="/t">${w.n(1)}</a></div><h1>${w.x()}</h1><div class="markdown-body">${w.p(2)}<h3>${w.w(1)}</h3><ul>${w.each(8, () => `<li>${w.s(6)} (<a href="/c">${w.w(1)}</a>)</li>`)}</ul></div><details><summary>${w.n(1)}</summary><ul>${w.links(4)}</ul></details></div>${footer(w)}`,
    ),
  'lesson with questions': (w) =>
    page(
      w,
      `${header(w)}<div class="lesson"><h1>${w.x()}</h1>${w.ps(3)}<form class="quiz"><p>${w.s()}</p>${w.each(3, () => `<label><input type="radio">${w.w(3)}</label>`)}</form>${w.ps(2)}</div>${sidebar(w)}${footer(w)}`,
    ),
  'list of posts': (w) =>
    page(
      w,
      `${header(w)}<div class="posts">${w.each(7, () => `<div class="post"><h2><a href="/p">${w.w(5)}</a></h2><p class="date">${w.x(1)}</p><p>${w.t(2)}</p><a class="read-more" href="/p">${w.n(2)}</a></div>`)}</div><div class="pagination">${w.links(3, 'span')}</div>${sidebar(w)}${footer(w)}`,
    ),
};
