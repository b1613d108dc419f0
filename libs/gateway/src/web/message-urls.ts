/** What is looked at of a message. */
const LOOKED_AT_CHARACTERS = 100_000;

const ADDRESS = /https?:\/\/[^\s<>"'`|\\^]{1,2000}/giu;

/**
 * The addresses of pages in a text, each page once, in their order, as people write them into sentences and brackets.
 * Addresses that differ only in their fragment are one page, and the first of them stands for it.
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

/** What is requested for an address: without its fragment and the dot that may end the name of its host. */
function pageOf(href: string): string {
  const page = new URL(href);
  page.hash = '';
  page.hostname = page.hostname.replace(/\.$/, '');
  return page.href;
}

const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/** Without the punctuation of the sentence around it; a bracket that is opened in an address is closed in it. */
function withoutEnding(address: string): string {
  // Each is counted once: an address may be nothing but brackets.
  const counts = new Map<string, number>();
  const countOf = (character: string): number => counts.get(character) ?? address.split(character).length - 1;
  for (let end = address.length; end > 0; end -= 1) {
    const last = address.charAt(end - 1);
    const opening = OPENING[last];
    if (opening === undefined) {
      if (!/[.,;:!?*_~。，、！？]/u.test(last)) return address.slice(0, end);
      continue;
    }
    // Of the openings none is stripped: an address that ends with one ends there.
    const [opened, closed] = [countOf(opening), countOf(last)];
    if (opened >= closed) return address.slice(0, end);
    counts.set(opening, opened).set(last, closed - 1);
  }
  return '';
}
