import type { Structure } from './writer.js';
import { footer, header, page, sidebar } from './parts.js';
import type { Language } from './writer.js';

/** Twelve languages other than English, each with its own structure. */
export const languages: Readonly<Record<Exclude<Language, 'en'>, Structure>> = {
  de: (w) =>
    page(w, `${header(w)}<div class="artikel"><h1>${w.x()}</h1>${w.ps(5)}</div>${sidebar(w)}${footer(w)}`),
  fr: (w) =>
    page(
      w,
      `${header(w)}<main><article><h1>${w.x()}</h1><p class="chapo">${w.t(2)}</p>${w.ps(4)}</article><div class="partage">${w.links(4, 'span')}</div></main>${footer(w)}`,
    ),
  es: (w) =>
    page(
      w,
      `${header(w)}<div class="cuerpo"><h1>${w.x()}</h1>${w.each(3, () => `<h2>${w.w()}</h2>${w.ps(2)}`)}</div><div class="lo-mas-leido"><ol>${w.links(7)}</ol></div>${footer(w)}`,
    ),
  tr: (w) =>
    page(
      w,
      `<div class="ust">${w.links(8, 'span')}</div><div class="haber"><h1>${w.x()}</h1><h2>${w.s()}</h2>${w.ps(5, 2)}</div><div class="alt">${w.links(8, 'span')}</div>`,
    ),
  ru: (w) =>
    page(
      w,
      `<table><tr><td>${w.links(8, 'div')}</td><td><h1>${w.x()}</h1>${w.ps(5)}</td></tr></table><div>${w.ns()}</div>`,
    ),
  el: (w) =>
    page(w, `${header(w)}<main>${w.each(4, () => `<section>${w.ps(2)}</section>`)}</main>${footer(w)}`),
  he: (w) => page(w, `<div dir="rtl">${header(w)}<div class="art">${w.ps(5)}</div>${sidebar(w)}</div>`),
  ar: (w) =>
    page(w, `<div dir="rtl">${header(w)}<article><h1>${w.x()}</h1>${w.ps(5)}</article></div>${footer(w)}`),
  hi: (w) =>
    page(
      w,
      `${header(w)}<div class="story"><h1>${w.x()}</h1>${w.each(5, () => `<div>${w.t(3)}</div>`)}</div>${footer(w)}`,
    ),
  ko: (w) =>
    page(
      w,
      `${header(w)}<div id="articleBody">${w.each(6, () => `${w.t(2)}<br><br>`)}</div><div class="rank"><ol>${w.links(8)}</ol></div>${footer(w)}`,
    ),
  zh: (w) =>
    page(
      w,
      `<div class="nav">${w.links(10, 'span')}</div><div class="article"><h1>${w.x()}</h1>${w.ps(6, 2)}</div><div class="tuijian"><ul>${w.links(8)}</ul></div>${footer(w)}`,
    ),
  ja: (w) =>
    page(
      w,
      `${header(w)}<main><h1>${w.x()}</h1>${w.each(3, () => `<h2>${w.w()}</h2>${w.ps(2, 3)}`)}</main>${sidebar(w)}${footer(w)}`,
    ),
  th: (w) => page(w, `${header(w)}<div class="detail"><h1>${w.x()}</h1>${w.ps(5, 3)}</div>${footer(w)}`),
};
