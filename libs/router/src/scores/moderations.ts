import { BackendError, type PlannedRequest, errorStatus } from '@svc/backend-calls';
import type { Guard } from '@svc/contracts/catalog';
import type { ModerationOrder, ModerationVerdict, Verdicts } from '@svc/contracts/inference';
import { RESPONSE_JSON_LIMITS, jsonOrUndefined } from '@svc/runtime';
import { z } from 'zod';

type Inputs = ModerationOrder['inputs'];

/** Calls of an endpoint for moderations. */
export interface ModerationsDialect {
  readonly request: (model: string, inputs: Inputs) => PlannedRequest;
  /** The verdict on each input, in order. Throws unless there are this many. */
  readonly read: (body: string, inputs: number) => Verdicts;
}

/** The most categories of a verdict; OpenAI has 13. */
const CATEGORIES_AT_MOST = 64;

const byCategory = <Value extends z.ZodType>(value: Value) =>
  z
    .record(z.string().regex(/^[\w/ -]{1,64}$/), value)
    .refine((record) => Object.keys(record).length <= CATEGORIES_AT_MOST);

/** OpenAI has null for categories that a model does not judge. Mistral has no `flagged`. */
const Response = z.object({
  results: z.array(
    z.object({
      flagged: z.boolean().optional(),
      categories: byCategory(z.boolean().nullable()),
      category_scores: byCategory(z.number().min(0).max(1).nullable()),
      category_applied_input_types: byCategory(z.array(z.enum(['text', 'image']))).nullish(),
    }),
  ),
  usage: z.object({ prompt_tokens: z.int().nonnegative() }).optional().catch(undefined),
});

export const moderations: ModerationsDialect = {
  request(model, inputs) {
    const [first] = inputs;
    const input = inputs.length === 1 ? first : inputs;
    return { path: '/moderations', body: [Buffer.from(JSON.stringify({ model, input }))] };
  },

  read(body, inputs) {
    const read = Response.safeParse(jsonOrUndefined(body, RESPONSE_JSON_LIMITS));
    if (!read.success) {
      const status = errorStatus(body);
      throw status === undefined ? new Error('the response has no verdicts') : new BackendError(status, body);
    }
    const { results, usage } = read.data;
    if (results.length !== inputs)
      throw new Error(`the response has ${results.length} verdicts for ${inputs} inputs`);
    const verdicts = results.map((result): ModerationVerdict => {
      const categories = withDefault(result.categories, false);
      const { flagged = Object.values(categories).includes(true) } = result;
      const inputTypes = result.category_applied_input_types;
      const scores = withDefault(result.category_scores, 0);
      return { flagged, categories, scores, ...(inputTypes && { inputTypes }) };
    });
    return { verdicts, ...(usage && { promptTokens: usage.prompt_tokens }) };
  },
};

const withDefault = <Value>(record: Record<string, Value | null>, value: Value): Record<string, Value> =>
  Object.fromEntries(Object.entries(record).map(([name, given]) => [name, given ?? value]));

/** More than `unsafe` and all codes. */
const GUARD_OUTPUT_TOKENS = 128;

/** The chat in which a guard model judges an input. */
export function guardChat(content: Inputs[number] | undefined): Buffer {
  const messages = [{ role: 'user', content }];
  return Buffer.from(JSON.stringify({ messages, max_tokens: GUARD_OUTPUT_TOKENS, temperature: 0 }));
}

const ANSWER = /^\s*(?:(safe)|unsafe(?:\s+([A-Za-z]\w{0,15}(?:\s*,\s*[A-Za-z]\w{0,15}){0,31}))?)\s*$/;

/** What a guard model's answer says. Throws if it says neither that a text is safe nor that it is unsafe. */
export function guardVerdict(answer: string, { categories }: Guard): ModerationVerdict {
  const match = ANSWER.exec(answer);
  if (!match) throw new Error('the answer is neither safe nor unsafe');
  const [, safe, codes = ''] = match;
  const found = codes
    .split(',')
    .map((code) => code.trim())
    .flatMap((code) => (Object.hasOwn(categories, code) ? (categories[code] ?? []) : []));
  return {
    flagged: safe === undefined,
    categories: Object.fromEntries(found.map((name) => [name, true])),
    scores: Object.fromEntries(found.map((name) => [name, 1])),
  };
}
