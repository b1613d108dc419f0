import { isOfKey, nameWithoutKey } from '@svc/contracts/ports';
import { type KeyLabel } from '@svc/identity/accounts';

type NamedKey = Omit<KeyLabel, 'tags'>;

/** Not available as a key's name, since the series has a member of this name. */
const TAKEN = 'date';

/**
 * A unique name for each key: its description, with the end of its secret if several keys share the
 * description.
 */
export function keyNames(keyIds: readonly string[], labels: readonly NamedKey[]): Map<string, string> {
  const byId = new Map(labels.map((label) => [label.id, label]));
  const uses = Map.groupBy(labels, ({ description }) => description);
  const names = new Map<string, string>();
  const taken = new Set([TAKEN]);
  for (const id of keyIds) {
    const label = byId.get(id);
    const own = label
      ? labelNames(label, uses.get(label.description)?.length === 1)
      : isOfKey(id)
        ? []
        : [nameWithoutKey(id)];
    const candidates = [...own, id];
    const name = candidates.find((candidate) => !taken.has(candidate)) ?? id;
    taken.add(name);
    names.set(id, name);
  }
  return names;
}

function labelNames({ description, last6 }: NamedKey, unique: boolean): string[] {
  const end = `…${last6}`;
  if (description === '') return [end];
  const long = `${description} (${end})`;
  return unique ? [description, long] : [long];
}
