/** A model as the catalogue has it. */
export interface CatalogueRow {
  readonly id: string;
  readonly type: string;
  /** Its aliases and traits. */
  readonly names: string;
  readonly prices: string;
  readonly backends: number;
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listIn = (members: Members, name: string): readonly unknown[] => {
  const list = members[name];
  return Array.isArray(list) ? list : [];
};

const textIn = (members: Members, name: string): string | undefined => {
  const text = members[name];
  return typeof text === 'string' ? text : undefined;
};

/** `input 0.15 · output 0.6`, with the names of what is nested. */
function pricesOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((member, at) => pricesOf(member, `${path} ${at + 1}`));
  if (isMembers(value))
    return Object.entries(value).flatMap(([name, member]) => pricesOf(member, `${path} ${name}`));
  return [`${path.trim()} ${String(value)}`];
}

function rowOf(model: Members): CatalogueRow {
  return {
    id: textIn(model, 'id') ?? '',
    type: textIn(model, 'type') ?? 'text',
    names: [...listIn(model, 'aliases'), ...listIn(model, 'traits')].join(', '),
    prices: model['pricing'] === undefined ? '—' : pricesOf(model['pricing']).join(' · '),
    backends: listIn(model, 'backends').length,
  };
}

/** The models in the content of a catalogue, which is shown as it is written in the file. */
export const rowsOf = (content: unknown): CatalogueRow[] =>
  isMembers(content) ? listIn(content, 'models').filter(isMembers).map(rowOf) : [];
