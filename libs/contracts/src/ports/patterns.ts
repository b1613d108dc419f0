const ANY = '*';

/**
 * Whether a text matches a pattern, in which each `*` stands for any characters, also none. Takes time in
 * proportion to the product of their lengths at most, whatever the pattern.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  let inPattern = 0;
  let inText = 0;
  /** After the last `*`, and where the rest of the pattern was last tried. */
  let afterAny = -1;
  let triedAt = 0;
  while (inText < text.length) {
    if (pattern[inPattern] === ANY) {
      inPattern += 1;
      afterAny = inPattern;
      triedAt = inText;
    } else if (pattern[inPattern] === text[inText]) {
      inPattern += 1;
      inText += 1;
    } else if (afterAny >= 0) {
      triedAt += 1;
      inPattern = afterAny;
      inText = triedAt;
    } else return false;
  }
  while (pattern[inPattern] === ANY) inPattern += 1;
  return inPattern === pattern.length;
}
