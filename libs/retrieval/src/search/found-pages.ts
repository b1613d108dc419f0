import type { FoundPage } from '@svc/contracts/ports';
import { plainText } from './plain-text.js';
import type { RawPage } from './provider.js';

const TITLE_CHARACTERS = 200;
const CONTENT_CHARACTERS = 2_000;
const URL_CHARACTERS = 2_000;

/** Pages of one host that keep their rank; further ones move behind the others. */
const PER_HOST = 2;

/** Query parameters that track visitors and do not identify the page. */
const TRACKING = /^(utm_\w+|fbclid|gclid|msclkid|mc_[ce]id|ref|ref_src|igshid|yclid)$/i;

/**
 * The pages that a provider found, as plain text within limits: each page once, in the provider's order,
 * except that pages without text and the third and further of a host move to the end.
 */
export function foundPages(raw: readonly RawPage[], count: number, now = Date.now()): FoundPage[] {
  const seen = new Map<string, FoundPage>();
  for (const page of raw) {
    const found = foundPage(page, now);
    if (!found) continue;
    const key = samePageKey(found.url);
    const known = seen.get(key);
    // Of two results for one page, the one with more text replaces the first.
    if (!known) seen.set(key, found);
    else if (found.content.length > known.content.length) seen.set(key, { ...known, content: found.content });
  }
  return ranked([...seen.values()]).slice(0, count);
}

function ranked(pages: readonly FoundPage[]): FoundPage[] {
  const ofHost = new Map<string, number>();
  const places = pages.map((page) => {
    const { host } = new URL(page.url);
    const before = ofHost.get(host) ?? 0;
    ofHost.set(host, before + 1);
    return { page, group: page.content === '' ? 2 : before < PER_HOST ? 0 : 1 };
  });
  return places.toSorted((a, b) => a.group - b.group).map(({ page }) => page);
}

function foundPage({ title, url, content, date }: RawPage, now: number): FoundPage | undefined {
  const address = pageAddress(url);
  if (address === undefined) return undefined;
  const publishedAt = dateOf(date, now);
  return {
    title: plainText(title, TITLE_CHARACTERS) || new URL(address).host,
    url: address,
    content: plainText(content, CONTENT_CHARACTERS),
    ...(publishedAt !== undefined && { publishedAt }),
  };
}

/** Normalized by WHATWG, so that nothing in it can be mistaken for surrounding text. */
function pageAddress(url: unknown): string | undefined {
  if (typeof url !== 'string' || url.length > URL_CHARACTERS || !URL.canParse(url)) return undefined;
  const { protocol, username, password, href } = new URL(url);
  const isPage = (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
  return isPage && href.length <= URL_CHARACTERS ? href : undefined;
}

/** A key that is equal for two addresses of one page. */
function samePageKey(address: string): string {
  const url = new URL(address);
  const names = Array.from(url.searchParams.keys());
  for (const name of names) if (TRACKING.test(name)) url.searchParams.delete(name);
  url.searchParams.sort();
  const host = url.host.replace(/^(www|m)\./, '');
  return `${host}${url.pathname.replace(/\/+$/, '')}?${url.searchParams.toString()}`;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  month: 2_629_800_000,
  year: 31_557_600_000,
};

const FIRST_DATE = Date.UTC(1990, 0, 1);
const DAY_MS = 86_400_000;

/** Parses any date format of the providers: ISO 8601, RFC 2822, seconds or milliseconds, `3 days ago`. */
export function dateOf(value: unknown, now: number): string | undefined {
  const ms = dateMs(value, now);
  // Dates in the future or before the web are errors.
  if (ms === undefined || Number.isNaN(ms) || ms < FIRST_DATE || ms > now + DAY_MS) return undefined;
  return new Date(ms).toISOString();
}

function dateMs(value: unknown, now: number): number | undefined {
  if (typeof value === 'number') return value < 1e11 ? value * 1_000 : value;
  if (typeof value !== 'string' || value.length > 64) return undefined;
  const ago = /^(\d{1,4}|an?) (second|minute|hour|day|week|month|year)s? ago$/i.exec(value.trim());
  if (ago) {
    const [, count = '', unit = ''] = ago;
    return now - (/^an?$/i.test(count) ? 1 : Number(count)) * (UNITS_MS[unit.toLowerCase()] ?? 0);
  }
  // A time without a zone is UTC, not local time.
  const hasZone = /(Z|[+-]\d{2}:?\d{2}|GMT|UTC|[ECMP][SD]T)$/i.test(value.trim());
  return Date.parse(hasZone || !/\d:\d/.test(value) ? utcDay(value) : `${value.trim().replace(' ', 'T')}Z`);
}

/** Dates such as `April 16, 2025` would be parsed as local time unless they name a zone. */
function utcDay(value: string): string {
  return /[A-Za-z]/.test(value) && !/\d:\d/.test(value) ? `${value} UTC` : value;
}
