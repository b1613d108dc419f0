import { z } from 'zod';

/** A model of a hosted provider, without what the provider does not report. */
export interface ListedModel {
  readonly id: string;
  readonly name?: string | undefined;
  readonly contextTokens?: number | undefined;
  readonly maxCompletionTokens?: number | undefined;
  /** The catalogue's capabilities, as far as they are known. */
  readonly capabilities: Readonly<Record<string, boolean | undefined>>;
  /** Whether it needs a number of tokens in order to reason. */
  readonly thinksByBudget?: boolean;
  /** Why it can't be offered as a text model. */
  readonly reason?: string | undefined;
}

/** One page of a provider's list. */
export interface ListPage {
  readonly models: readonly ListedModel[];
  /** The path and the query of the next page. */
  readonly next?: string | undefined;
}

/** What a server reports, or nothing if it has another form. */
export const Count = z.int().positive().max(1_000_000_000).optional().catch(undefined);
export const Flag = z.boolean().optional().catch(undefined);
export const Text = z.string().min(1).max(200).optional().catch(undefined);
export const Names = z.array(z.string()).optional().catch(undefined);

/** The items of a list that have this shape. */
export const shaped = <Schema extends z.ZodType>(
  schema: Schema,
  items: readonly unknown[],
): z.infer<Schema>[] =>
  items.flatMap((item) => {
    const { success, data } = schema.safeParse(item);
    return success ? [data] : [];
  });
