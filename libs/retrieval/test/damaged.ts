import type { Structures } from './writer.js';
import { footer, header, page, sidebar } from './parts.js';

/** Malformed, old or strange HTML. */
export const damaged: Structures = {
  'ends that are missing': (w) =>
    page(
      w,
      `<div class=nav><ul>${w.each(6, () => `<li><a href=/x>${w.n(2)}</a>`)}</ul></div><div class=text><h1>${w.x()}</h1>${w.each(6, () => `<p>${w.t()}`)}<ul>${w.each(4, () => `<li>${w.s()}`)}</ul></div><div class=footer>${w.ns()}`,
    ),
  'cells and rows without ends': (w) =>
    page(
      w,
      `${header(w)}<main><table>${w.each(10, () => `<tr><td>${w.w(2)}<td>${w.s(6)}`)}</table>${w.p()}</main>`,
    ),
  'crossed ends': (w) =>
    page(
      w,
      `${header(w)}<div class="body"><h1>${w.x()}</h1>${w.each(5, () => `<p><b><i>${w.s()}</b></i>${w.t(2)}</p>`)}</div>${footer(w)}`,
    ),
  'neither head nor body': (w) =>
    `<title>${w.x()}</title><ul id=menu>${w.links(6)}</ul><h1>${w.x()}</h1>${w.ps(5)}<address>${w.n(4)}</address>`,
  'ends too many': (w) =>
    page(
      w,
      `${header(w)}</div></div><div class="main-column"></span></section>${w.ps(3)}</div></div>${w.ps(2)}</div></article>${footer(w)}`,
    ),
  nineties: (w) =>
    `<HTML><BODY BGCOLOR=white><CENTER><FONT SIZE=5>${w.x()}</FONT></CENTER><TABLE WIDTH=600><TR><TD VALIGN=top>${w.each(8, () => `<A HREF=x.htm><FONT SIZE=1>${w.n(2)}</FONT></A><BR>`)}</TD><TD><FONT FACE=arial>${w.each(6, () => `${w.t(3)}<BR><BR>`)}</FONT></TD></TR></TABLE><CENTER><FONT SIZE=1>${w.ns()}</FONT></CENTER></BODY></HTML>`,
  'lines in place of paragraphs': (w) =>
    page(
      w,
      `${header(w)}<div class="txt"><h1>${w.x()}</h1>${w.each(7, () => `${w.t(3)}<br/><br/>`)}</div>${footer(w)}`,
    ),
  'text right in the body': (w) =>
    `<html><body><a href="/">${w.n(2)}</a> | <a href="/b">${w.n(2)}</a><hr>${w.each(6, () => `${w.t(3)}\n<p>`)}</body></html>`,
  'scripts, styles and drawings between': (w) =>
    page(
      w,
      `${header(w)}<main>${w.each(5, () => `${w.p(3)}<script>var a="<p>${w.n(5)}</p>";</script><style>.a{content:"${w.n(3)}"}</style><svg><text>${w.n(2)}</text></svg>`)}</main>${footer(w)}`,
    ),
  'hidden text': (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1>${w.ps(3)}<div style="display:none">${w.ns()}</div><p hidden>${w.ns()}</p><div aria-hidden="true">${w.ns()}</div>${w.ps(3)}<span style="visibility: hidden">${w.ns()}</span></main>${footer(w)}`,
    ),
  'sections of XHTML': (w) =>
    `<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>${w.x()}</title><script>//<![CDATA[\n${w.n(3)}\n//]]></script></head><body><div id="menu"><ul>${w.links(6)}</ul></div><div id="text">${w.ps(6)}</div></body></html>`,
  'boxes in boxes': (w) =>
    page(
      w,
      `${header(w)}${'<div>'.repeat(120)}<h1>${w.x()}</h1>${w.ps(6)}${'</div>'.repeat(120)}${footer(w)}`,
    ),
  'quotes that do not end': (w) =>
    page(
      w,
      `${header(w)}<main><p title="a>${w.n(2)}</p><p class="b">${w.t()}</p>${w.ps(4)}</main>${footer(w)}`,
    ),
  'spaces that do not break': (w) =>
    page(
      w,
      `${header(w)}<main>&nbsp;&nbsp;<h1>${w.x()}</h1>${w.each(5, () => `<p>&nbsp;${w.t().replaceAll(' ', '&nbsp;')}&#8203;</p>`)}</main>${sidebar(w)}${footer(w)}`,
    ),
  'templates and copies for printing': (w) =>
    page(
      w,
      `${header(w)}<template><p>${w.ns()}</p></template><main>${w.ps(5)}</main><div class="print-only" style="display: none">${w.ns()}</div><dialog>${w.ns()}</dialog>${footer(w)}`,
    ),
  'paragraphs in links': (w) =>
    page(
      w,
      `${header(w)}<main>${w.each(5, () => `${w.p(3)}<p><a href="/more">${w.s(8)}</a></p>`)}</main>${footer(w)}`,
    ),
};
