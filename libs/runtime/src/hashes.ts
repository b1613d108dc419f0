/** Spreads each bit over all others, as the end of MurmurHash3. */
export function mixed(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** A hash of a text of which only a bounded part is read. */
export function hashOf(text: string, seed = 0): number {
  let hash = seed ^ text.length;
  const end = Math.min(text.length, 1_024);
  for (let at = 0; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash);
}
