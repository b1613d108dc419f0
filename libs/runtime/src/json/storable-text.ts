import { invalidRequest } from '@svc/contracts/problems';

const MESSAGE = 'must not contain NUL or unpaired surrogate characters';

/** A part of a request, in the part that contains it. */
interface Part {
  readonly value: unknown;
  readonly name?: string | number;
  readonly parent?: Part;
}

/**
 * The value of a part of a request. Refuses texts that PostgreSQL rejects or changes, at any depth, in names
 * too: a NUL, or half of a surrogate pair, for which UTF-8 has no bytes. Any text may end up in a statement,
 * where its fault would be taken for one of the database.
 */
export function refuseUnstorable(whole: unknown): unknown {
  const left: Part[] = [{ value: whole }];
  for (let part = left.pop(); part; part = left.pop()) {
    const { value } = part;
    if (typeof value === 'string' && !isStorable(value)) throw refusal(part, MESSAGE);
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) continue;
    for (const [name, member] of Object.entries(value)) {
      if (!isStorable(name)) throw refusal(part, `names ${MESSAGE}`);
      left.push({ value: member, name: Array.isArray(value) ? Number(name) : name, parent: part });
    }
  }
  return whole;
}

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

function refusal(faulty: Part, message: string): Error {
  const path: (string | number)[] = [];
  for (let part: Part | undefined = faulty; part?.name !== undefined; part = part.parent)
    path.unshift(part.name);
  return invalidRequest([{ code: 'custom', path, message }]);
}
