/**
 * V8 replaces the table of a Map or Set every few changes, and the table that it replaces points to the new
 * one. Once a table is in the old generation, all later ones survive every collection of young objects, and
 * so do their entries with all that these refer to. A copy has a table to which no other points. It is made
 * after this many entries, or as many as there are, so that copying costs no more than adding did.
 */
const ENTRIES_PER_COPY = 128;

/** A Map whose entries come and go with requests, in the order in which they came. */
export class PassingMap<Key, Value> {
  private map = new Map<Key, Value>();
  private added = 0;

  get size(): number {
    return this.map.size;
  }

  get(key: Key): Value | undefined {
    return this.map.get(key);
  }

  has(key: Key): boolean {
    return this.map.has(key);
  }

  set(key: Key, value: Value): void {
    this.map.set(key, value);
    this.added += 1;
    if (this.added < ENTRIES_PER_COPY || this.added < this.map.size) return;
    this.added = 0;
    this.map = new Map(this.map);
  }

  delete(key: Key): boolean {
    return this.map.delete(key);
  }

  keys(): MapIterator<Key> {
    return this.map.keys();
  }

  values(): MapIterator<Value> {
    return this.map.values();
  }

  /** Entries may be deleted meanwhile, but none added. */
  [Symbol.iterator](): MapIterator<[Key, Value]> {
    return this.map.entries();
  }
}

/** A Set whose members come and go with requests, in the order in which they came. */
export class PassingSet<Member> {
  private readonly map = new PassingMap<Member, Member>();

  get size(): number {
    return this.map.size;
  }

  add(member: Member): void {
    this.map.set(member, member);
  }

  has(member: Member): boolean {
    return this.map.has(member);
  }

  delete(member: Member): boolean {
    return this.map.delete(member);
  }

  /** Members may be deleted meanwhile, but none added. */
  [Symbol.iterator](): MapIterator<Member> {
    return this.map.keys();
  }
}
