import { signal } from '@preact/signals';

/** The first part of the address: `/console` or `/desk`. */
const BASE = `/${location.pathname.split('/')[1] ?? ''}`;

/** The page of an address: `keys` of `/console/keys`, and the empty text of `/console`. */
const pageOf = (pathname: string): string => pathname.slice(BASE.length).replaceAll(/^\/+|\/+$/g, '');

/** The page that is shown. */
export const page = signal(pageOf(location.pathname));

/** What follows `?`: the choices of the page, so that its address can be kept and sent. */
export const choices = signal(new URLSearchParams(location.search));

function read(): void {
  page.value = pageOf(location.pathname);
  choices.value = new URLSearchParams(location.search);
}

/** The address of a page. */
export const addressOfPage = (name: string, search: Readonly<Record<string, string>> = {}): string => {
  const text = new URLSearchParams(search).toString();
  return `${BASE}${name === '' ? '' : `/${name}`}${text === '' ? '' : `?${text}`}`;
};

function go(address: string): void {
  history.pushState(null, '', address);
  read();
  scrollTo(0, 0);
}

/** Changes choices of the page without a new entry in the history; an empty text removes one. */
export function choose(changes: Readonly<Record<string, string>>): void {
  const next = new URLSearchParams(choices.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') next.delete(name);
    else next.set(name, value);
  }
  const text = next.toString();
  history.replaceState(null, '', text === '' ? location.pathname : `?${text}`);
  read();
}

/** Follows links within these pages without loading them again. The browser follows all others. */
function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null;
  const isOrdinary =
    event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isOrdinary || link.target !== '' || link.hasAttribute('download')) return;
  const isInside = link.pathname === BASE || link.pathname.startsWith(`${BASE}/`);
  if (link.origin !== location.origin || !isInside || link.hash !== '') return;
  event.preventDefault();
  go(link.pathname + link.search);
}

export function startNavigation(): void {
  addEventListener('popstate', read);
  document.addEventListener('click', follow);
}
