/** What is looked at of a message. */
const LOOKED_AT_CHARACTERS = 100_000;

const ADDRESS = /https?:\/\/[^\s<>"'`|\\^]{1,2000}/giu;

/** The addresses of pages in a text, each once, in their order, as people write them into sentences and brackets. */
export function urlsIn(text: string, most: number): string[] {
  const found = new Set<string>();
  for (const [address] of text.slice(0, LOOKED_AT_CHARACTERS).matchAll(ADDRESS)) {
    const url = withoutEnding(address);
    if (URL.canParse(url)) found.add(new URL(url).href);
    if (found.size === most) break;
  }
  return [...found];
}

/** Without the punctuation of the sentence around it; a bracket that is opened in an address is closed in it. */
function withoutEnding(address: string): string {
  let url = address;
  for (;;) {
    const last = url.at(-1) ?? '';
    const opening = { ')': '(', ']': '[', '}': '{' }[last];
    const isOwn = opening !== undefined && url.split(opening).length >= url.split(last).length;
    if (isOwn || (opening === undefined && !/[.,;:!?*_~。，、！？]/u.test(last))) return url;
    url = url.slice(0, -1);
  }
}
