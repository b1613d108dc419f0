import { z } from 'zod';

/** The values of a request in a workflow. Those of `OPTIONAL_SLOTS` may be absent, so they need a default. */
const REQUIRED_SLOTS = ['prompt', 'count', 'width', 'height', 'seed'] as const;
const OPTIONAL_SLOTS = ['negativePrompt', 'quality', 'steps', 'guidance'] as const;
const SLOTS = [...REQUIRED_SLOTS, ...OPTIONAL_SLOTS, 'model'] as const;
export type WorkflowSlot = (typeof SLOTS)[number];

/** The place of a value in a workflow. */
interface Slot {
  readonly name: string;
  /** If a request has no value. */
  readonly otherwise?: unknown;
}

const NAME = /^\$([A-Za-z]\w*)$/;

/** An input that is a slot: `$prompt`, or `{ $steps: 20 }` with a default. */
export function slotIn(input: unknown): Slot | undefined {
  if (typeof input === 'string') {
    const [, name] = NAME.exec(input) ?? [];
    return name === undefined ? undefined : { name };
  }
  if (typeof input !== 'object' || input === null) return undefined;
  const [only, ...more] = Object.entries<unknown>({ ...input });
  const [, name] = NAME.exec(only?.[0] ?? '') ?? [];
  return name === undefined || more.length > 0 ? undefined : { name, otherwise: only?.[1] };
}

/** A workflow of ComfyUI in its API format, whose inputs may be slots. */
export const Workflow = z
  .record(
    z.string(),
    z.looseObject({ class_type: z.string().min(1), inputs: z.record(z.string(), z.unknown()) }),
  )
  .superRefine((nodes, faults) => {
    const report = (path: string[], message: string): void =>
      faults.addIssue({ code: 'custom', path, message });
    const used = new Set<string>();
    for (const [id, { inputs }] of Object.entries(nodes))
      for (const [input, value] of Object.entries(inputs)) {
        const slot = slotIn(value);
        if (!slot) continue;
        const { name, otherwise } = slot;
        used.add(name);
        if (!SLOTS.some((known) => known === name))
          report([id, 'inputs', input], `has an unknown slot: the slots are ${SLOTS.join(', ')}`);
        if (OPTIONAL_SLOTS.some((optional) => optional === name) && otherwise === undefined)
          report([id, 'inputs', input], `needs a default, such as { $${name}: … }`);
      }
    for (const name of REQUIRED_SLOTS) if (!used.has(name)) report([], `needs an input with $${name}`);
  });
export type Workflow = z.infer<typeof Workflow>;
