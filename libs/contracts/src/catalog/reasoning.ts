import { z } from 'zod';

/** How a text model reasons, and how to control that in requests to its backends. */
export const Reasoning = z.preprocess(
  withOff,
  z.strictObject({
    /**
     * The member for the effort: OpenAI's, inside the object `reasoning`, inside `chat_template_kwargs` as
     * `reasoning_effort`, or none.
     */
    effort: z
      .enum(['reasoning_effort', 'reasoning', 'chat_template_kwargs', 'none'])
      .default('reasoning_effort'),
    /**
     * What switches reasoning off: members for the backend's request, such as `{chat_template_kwargs:
     * {enable_thinking: false}}` or `{reasoning_effort: none}`, or a word such as `/no_think` after the last
     * user message. Without it, reasoning can't be switched off.
     */
    off: z
      .union([
        z.strictObject({ members: z.record(z.string(), z.unknown()) }),
        z.strictObject({ suffix: z.string().min(1) }),
      ])
      .optional(),
    /** The content begins inside a think block, because the chat template writes the opening tag. */
    startsInside: z.boolean().default(false),
  }),
);

/** A YAML 1.1 writer reads a plain `off` as false, and writes it as false. */
function withOff(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'false')) return value;
  const { false: off, ...rest } = value as Record<string, unknown>;
  return { off, ...rest };
}
