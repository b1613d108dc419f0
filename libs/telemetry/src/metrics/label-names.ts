import { OTHER } from './metric-series.js';

/** The most names of one label. */
const MOST = 20;

/** What names consist of. Anything else may be a text, or differ each time. */
const NAME = /^[a-z][a-z0-9]*(?:[ _.-][a-z0-9]+){0,7}$/i;
const NAME_CHARACTERS = 48;

/** Label values that other parties choose: the first few that look like names. All others share a value. */
export class LabelNames {
  private readonly known = new Set<string>();

  labelOf(text: string): string {
    const name = text.slice(0, NAME_CHARACTERS + 1).toLowerCase();
    if (this.known.has(name)) return name;
    if (this.known.size >= MOST || name.length > NAME_CHARACTERS || !NAME.test(name)) return OTHER;
    this.known.add(name);
    return name;
  }
}
