import { distance } from 'fastest-levenshtein';

/** Longer names than this are not compared; ids of real models are shorter. */
const COMPARED_LENGTH = 80;

/** A name without what people write in different ways: case, dots, underscores, spaces and the prefix `svc-`. */
export function looseName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[._\s]/g, '-')
    .replace(/^svc-/, '');
}

/** What each loose name means; nothing where it fits more than one model, since a guess would be billed. */
export function looseNames<Model>(byName: ReadonlyMap<string, Model>): Map<string, Model | undefined> {
  const loose = new Map<string, Model | undefined>();
  for (const [name, model] of byName) {
    const key = looseName(name);
    loose.set(key, !loose.has(key) || loose.get(key) === model ? model : undefined);
  }
  return loose;
}

/** The one of `names` that is the least edits away from `name`, or that it begins; none when all are far. */
export function nearestName(name: string, names: Iterable<string>): string | undefined {
  const wanted = looseName(name.slice(0, COMPARED_LENGTH));
  let nearest: string | undefined;
  // A third of the letters may be wrong.
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
