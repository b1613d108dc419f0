import { isFormFileSchema } from '@svc/api/route';
import { z } from 'zod';

/** What the members of a form may be, by name. */
export type FormShape = Readonly<Record<string, FieldShape>>;

/** A member: a list, an object, or otherwise a text or file. */
export interface FieldShape {
  readonly mayBeFile: boolean;
  /** Types that a text is converted to if it looks like one. */
  readonly types: ReadonlySet<'number' | 'boolean'>;
  readonly element?: FieldShape;
  readonly members?: FormShape;
}

const known = new WeakMap<z.core.$ZodType, FormShape>();

/** The members that the schema of a body has, at its top level. */
export function formShapeOf(schema: z.core.$ZodType): FormShape {
  const seen = known.get(schema);
  if (seen) return seen;
  const shape = membersOf(alternatives(schema)) ?? {};
  known.set(schema, shape);
  return shape;
}

function fieldOf(schema: z.core.$ZodType): FieldShape {
  const options = alternatives(schema);
  const elements = options.flatMap((option) => (option instanceof z.ZodArray ? [option.element] : []));
  const members = membersOf(options);
  const types = options.map(typeIn);
  return {
    mayBeFile: options.some(isFormFileSchema),
    // A text that may stay one is not converted.
    types: new Set(types.includes('string') ? [] : types.filter((type) => type !== 'string' && type !== '')),
    ...(elements[0] && { element: fieldOf(elements[0]) }),
    ...(members && { members }),
  };
}

function membersOf(options: readonly z.core.$ZodType[]): FormShape | undefined {
  const objects = options.filter((option) => option instanceof z.ZodObject);
  if (objects.length === 0) return options.some((option) => option instanceof z.ZodRecord) ? {} : undefined;
  const members = objects.flatMap(({ shape }) => Object.entries<z.core.$ZodType>(shape));
  return Object.fromEntries(members.map(([name, schema]) => [name, fieldOf(schema)]));
}

function typeIn(schema: z.core.$ZodType): 'string' | 'number' | 'boolean' | '' {
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum) return 'string';
  if (schema instanceof z.ZodNumber) return 'number';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  if (!(schema instanceof z.ZodLiteral)) return '';
  const type = typeof schema.value;
  return type === 'number' || type === 'boolean' || type === 'string' ? type : '';
}

/** The schemas that a value may have, without what makes it optional or converts it. */
function alternatives(schema: z.core.$ZodType): z.core.$ZodType[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(alternatives);
  if (schema instanceof z.ZodPipe)
    return alternatives(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodCatch ||
    schema instanceof z.ZodReadonly
  )
    return alternatives(schema.unwrap());
  return [schema];
}
