import type { Structures } from './writer.js';
import { footer, header, page, sidebar } from './parts.js';

/** Discussions of many authors. */
export const forums: Structures = {
  'posts in tables': (w) =>
    page(
      w,
      `<div id="page-header">${w.links(8, 'span')}</div><h2>${w.x()}</h2>${w.each(6, () => `<table class="tablebg"><tr><td class="profile"><b>${w.x(1)}</b><br>${w.n(2)}<br><a href="/u">${w.n(2)}</a></td><td><div class="postbody">${w.t(3)}</div></td></tr></table>`)}<div id="page-footer">${w.ns()}</div>`,
    ),
  'question and answers': (w) =>
    page(
      w,
      `${header(w)}<div id="mainbar"><h1>${w.x()}</h1><div class="question"><div class="votecell"><button>${w.n(1)}</button></div><div class="s-prose">${w.ps(3)}</div><div class="post-menu">${w.links(4, 'span')}</div></div><div id="answers">${w.each(3, () => `<div class="response"><div class="votecell"><button>${w.n(1)}</button></div><div class="s-prose">${w.ps(2)}<pre><code>${w.w(4)}</code></pre></div><div class="post-menu">${w.links(4, 'span')}</div></div>`)}</div></div><div id="sidebar"><h4>${w.n()}</h4>${w.links(8, 'div')}</div>${footer(w)}`,
    ),
  'comments in nested tables': (w) =>
    page(
      w,
      `<center><table><tr><td>${w.links(7, 'span')}</td></tr><tr><td><a href="/s">${w.x(5)}</a></td></tr><tr><td><table>${w.each(9, () => `<tr><td><table><tr><td class="ind"></td><td class="default"><span class="comhead"><a href="/u">${w.n(1)}</a></span><div class="commtext">${w.t(3)}</div><div class="reply"><a href="/r">${w.n(1)}</a></div></td></tr></table></td></tr>`)}</table></td></tr></table></center>`,
    ),
  'topic with posts as articles': (w) =>
    page(
      w,
      `${header(w)}<div class="topic"><h1>${w.x()}</h1>${w.each(5, () => `<div class="topic-post"><article><div class="topic-avatar"><a href="/u">${w.n(1)}</a></div><div class="cooked">${w.ps(2, 3)}</div><nav class="post-controls"><button>${w.n(1)}</button></nav></article></div>`)}</div><div class="suggested-topics"><table>${w.each(5, () => `<tr><td><a href="/t">${w.n(4)}</a></td></tr>`)}</table></div>`,
    ),
  'letters of a mailing list': (w) =>
    page(
      w,
      `<ul>${w.links(5)}</ul><h1>${w.x()}</h1><b>${w.x(2)}</b><pre>${w.t(5)}\n&gt; ${w.s()}\n${w.t(4)}</pre><hr><ul>${w.links(5)}</ul>`,
    ),
  'threads of boxes': (w) =>
    page(
      w,
      `${header(w)}<main><div class="post"><h1>${w.x()}</h1><div class="md">${w.ps(2)}</div><div class="buttons">${w.links(4, 'span')}</div></div><div class="thread">${w.each(4, () => `<div class="entry"><p class="tagline"><a href="/u">${w.n(1)}</a></p><div class="md">${w.p(3)}</div><div class="child"><div class="entry"><p class="tagline"><a href="/u">${w.n(1)}</a></p><div class="md">${w.p(2)}</div></div></div></div>`)}</div></main>${sidebar(w)}`,
    ),
  'history of an issue': (w) =>
    page(
      w,
      `${header(w)}<div class="issue"><h1>${w.x()}</h1><div class="timeline">${w.each(5, () => `<div class="timeline-item"><h3 class="author"><a href="/u">${w.x(1)}</a></h3><div class="comment-body">${w.ps(2, 3)}</div></div>`)}</div></div><div class="meta-column"><div>${w.n(2)}</div><ul>${w.links(4)}</ul></div>${footer(w)}`,
    ),
  'reviews of a place': (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1>${w.p(2)}<section class="reviews">${w.each(6, () => `<div class="review"><strong>${w.x(1)}</strong><blockquote>${w.t(2)}</blockquote><button>${w.n(1)}</button></div>`)}</section></main>${footer(w)}`,
    ),
};
