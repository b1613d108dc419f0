import type { PageWriter } from './writer.js';

/** A complete page around a body. */
export const page = (w: PageWriter, body: string, head = ''): string =>
  `<!doctype html><html lang="${w.language}"><head><meta charset="utf-8"><title>${w.x()}</title>${head}</head><body>${body}</body></html>`;

export const header = (w: PageWriter): string =>
  `<header class="site-header"><a href="/">${w.n(1)}</a><nav><ul>${w.links(7)}</ul></nav></header>`;

export const footer = (w: PageWriter): string => `<footer><p>© ${w.ns()}</p><ul>${w.links(6)}</ul></footer>`;

export const sidebar = (w: PageWriter): string =>
  `<aside><h3>${w.n()}</h3><ul>${w.links(6)}</ul><p>${w.ns()}</p></aside>`;
