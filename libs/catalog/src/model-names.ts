import { distance } from 'fastest-levenshtein';

/** Longer names are not compared; real model ids are shorter. */
const COMPARED_LENGTH = 80;

/** Normalizes what people write in different ways: case, dots, underscores, spaces and the prefix `svc-`. */
export function looseName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[._\s]/g, '-')
    .replace(/^svc-/, '');
}

/** Models by normalized name; `undefined` if it fits more than one, since a wrong guess would be billed. */
export function looseNames<Model>(byName: ReadonlyMap<string, Model>): Map<string, Model | undefined> {
  const loose = new Map<string, Model | undefined>();
  for (const [name, model] of byName) {
    const key = looseName(name);
    loose.set(key, !loose.has(key) || loose.get(key) === model ? model : undefined);
  }
  return loose;
}

/** The name with the fewest edits to `name`, or one that starts with it; `undefined` if none is close. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  const wanted = looseName(name.slice(0, COMPARED_LENGTH));
  let nearest: string | undefined;
  // At most a third of the letters may differ.
  let least = Math.floor(wanted.length / 3) + 1;
  let begun: string | undefined;
  for (const candidate of names) {
    const loose = looseName(candidate.slice(0, COMPARED_LENGTH));
    if (wanted.length >= 3 && loose.startsWith(wanted)) begun ??= candidate;
    if (Math.abs(loose.length - wanted.length) >= least) continue;
    const edits = distance(wanted, loose);
    if (edits < least) [least, nearest] = [edits, candidate];
  }
  return nearest ?? begun;
}
