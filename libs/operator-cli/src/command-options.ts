import { z } from 'zod';

/** An option of a command: a member of its route's query or body. */
export interface CommandOption {
  readonly name: string;
  /** The name of the member, which an option of every command may have already. */
  readonly member: string;
  readonly description: string;
  readonly type: 'string' | 'number' | 'boolean' | 'json';
  readonly choices: readonly string[];
  readonly isRequired: boolean;
}

interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** The options of members whose names options of every command have. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([['url', 'to-url']]);

/**
 * The options for a query or body. Of several forms, all members; those that every form needs are required.
 */
export function optionsOf(schema: z.ZodType | undefined): CommandOption[] {
  if (!schema) return [];
  const whole = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
  const forms = whole.anyOf ?? whole.oneOf ?? [whole];
  const names = new Set(forms.flatMap(({ properties }) => Object.keys(properties ?? {})));
  return Array.from(names, (name) => {
    const members = forms.flatMap(({ properties = {} }) => properties[name] ?? []);
    const isRequired = forms.every(({ required }) => required?.includes(name));
    return { name: OTHER_NAMES.get(name) ?? name, member: name, isRequired, ...kindOf(members) };
  });
}

function kindOf(members: readonly Schema[]): Omit<CommandOption, 'name' | 'member' | 'isRequired'> {
  const simple = members.flatMap((member) => member.anyOf ?? member.oneOf ?? [member]);
  const choices = simple.flatMap(
    ({ enum: values, const: only }) => values ?? (only === undefined ? [] : [only]),
  );
  const types = new Set(simple.map(({ type = 'string' }) => (type === 'integer' ? 'number' : type)));
  const [type = 'string'] = types;
  const isPlain = types.size === 1 && ['string', 'number', 'boolean'].includes(type);
  const description = members.map((member) => member.description ?? '').find((text) => text !== '') ?? '';
  return {
    description: types.has('string') || isPlain ? description : `${description} As JSON.`.trimStart(),
    type: types.has('string') ? 'string' : isPlain ? (type as CommandOption['type']) : 'json',
    choices: choices.filter((choice) => typeof choice === 'string'),
  };
}

/** The value of an option, as its route expects it. Throws an error that names the option. */
export function valueOf({ name, type }: CommandOption, given: unknown): unknown {
  const text = String(given);
  if (type === 'number') {
    if (text.trim() === '' || !Number.isFinite(Number(text))) throw new Error(`--${name} must be a number`);
    return Number(text);
  }
  if (type !== 'json') return given;
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`--${name} must be JSON`);
  }
}
