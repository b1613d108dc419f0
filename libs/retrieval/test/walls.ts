import type { Structures } from './writer.js';
import { footer, header, page, sidebar } from './parts.js';
import type { PageWriter } from './writer.js';

const article = (w: PageWriter): string => `${header(w)}<main><h1>${w.x()}</h1>${w.ps(5)}</main>${footer(w)}`;

/** Overlays and pages shown instead of the content. */
export const walls: Structures = {
  'notice of cookies': (w) =>
    page(
      w,
      `<div id="cookie-consent"><h2>${w.n(3)}</h2><p>${w.ns()}${w.ns()}${w.ns()}</p><button>${w.n(1)}</button><button>${w.n(1)}</button></div>${article(w)}`,
    ),
  'dialog without a telling name': (w) =>
    page(
      w,
      `${article(w)}<div class="x1" role="dialog" aria-modal="true"><p>${w.ns()}${w.ns()}${w.ns()}${w.ns()}</p><button>${w.n(2)}</button></div>`,
    ),
  'notice that names its provider': (w) =>
    page(
      w,
      `<div id="onetrust-banner-sdk"><div class="ot-sdk-container"><p>${w.ns()}${w.ns()}</p><div>${w.each(5, () => `<div><h4>${w.n(2)}</h4><p>${w.ns()}</p></div>`)}</div></div></div>${article(w)}`,
    ),
  'fixed notice without any sign': (w) =>
    page(
      w,
      `${article(w)}<div style="position:fixed;bottom:0"><span>${w.ns()}${w.ns()}</span><button>${w.n(1)}</button></div>`,
    ),
  'question of age': (w) =>
    page(
      w,
      `<div class="modal-overlay"><div class="modal"><h2>${w.n(4)}</h2><p>${w.ns()}</p><a href="/yes">${w.n(1)}</a></div></div>${article(w)}`,
    ),
  'notice that is longer than the page': (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1>${w.ps(2, 3)}</main><div class="gdpr-consent">${w.each(12, () => `<div><h4>${w.n(2)}</h4><p>${w.ns()}${w.ns()}</p></div>`)}</div>`,
    ),
  'shell of an application': (w) =>
    page(
      w,
      `<div id="root"></div><noscript>${w.ns()}</noscript><script>window.state={"text":"${w.n(9)}"}</script>`,
    ),
  'shell that is loading': (w) =>
    page(
      w,
      `<div id="app"><div class="spinner">${w.n(2)}</div></div><noscript><p>${w.ns()}</p></noscript><script src="a.js"></script>`,
    ),
  'shell with its frame': (w) =>
    page(
      w,
      `${header(w)}<div id="__next"></div>${footer(w)}<script id="__NEXT_DATA__" type="application/json">{"a":"${w.n(9)}"}</script>`,
    ),
  'text for those without scripts beside it': (w) =>
    page(
      w,
      `<noscript><div class="warning">${w.ns()}</div></noscript>${header(w)}<div id="app"><div class="view"><h1>${w.x()}</h1>${w.ps(5)}</div></div>${sidebar(w)}`,
    ),
};
