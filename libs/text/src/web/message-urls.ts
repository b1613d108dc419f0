/** Only the beginning of a message is searched. */
const LOOKED_AT_CHARACTERS = 100_000;

const ADDRESS = /https?:\/\/[^\s<>"'`|\\^]{1,2000}/giu;

/**
 * The URLs in a text, in order and once per page, as people write them in sentences and brackets. URLs that
 * differ only in their fragment are one page, represented by the first of them.
 */
export function urlsIn(text: string, most: number): string[] {
  const found = new Map<string, string>();
  for (const [address] of text.slice(0, LOOKED_AT_CHARACTERS).matchAll(ADDRESS)) {
    const url = withoutEnding(address);
    if (URL.canParse(url)) {
      const { href } = new URL(url);
      const page = pageOf(href);
      if (!found.has(page)) found.set(page, href);
    }
    if (found.size === most) break;
  }
  return [...found.values()];
}

/** The URL that is requested: without its fragment and a trailing dot of its host name. */
function pageOf(href: string): string {
  const page = new URL(href);
  page.hash = '';
  page.hostname = page.hostname.replace(/\.$/, '');
  return page.href;
}

const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/**
 * Removes the punctuation of the surrounding sentence. A closing bracket is kept if it is opened within the
 * URL.
 */
function withoutEnding(address: string): string {
  // Counted once per character, since a URL may consist only of brackets.
  const counts = new Map<string, number>();
  const countOf = (character: string): number => counts.get(character) ?? address.split(character).length - 1;
  for (let end = address.length; end > 0; end -= 1) {
    const last = address.charAt(end - 1);
    const opening = OPENING[last];
    if (opening === undefined) {
      if (!/[.,;:!?*_~。，、！？]/u.test(last)) return address.slice(0, end);
      continue;
    }
    // Opening brackets are not stripped, so their count is constant.
    const [opened, closed] = [countOf(opening), countOf(last)];
    if (opened >= closed) return address.slice(0, end);
    counts.set(opening, opened).set(last, closed - 1);
  }
  return '';
}
