import { z } from 'zod';

/** A backend that an operator has taken out of service. */
export const Drain = z.object({
  model: z.string().describe('The id of the model, or `#crypto-rpc-` and the name of the network.'),
  name: z
    .string()
    .describe(
      'The name of the backend. That of an entry with `eachAddress` stands for all of its addresses.',
    ),
  state: z
    .enum(['draining', 'off'])
    .describe('`draining`: it gets no further call. `off`: it is not checked either.'),
  reason: z.string(),
  since: z.iso.datetime(),
  until: z.iso.datetime().nullable().describe('When it is back in service.'),
});
export type Drain = z.infer<typeof Drain>;

/** What follows the drains gets all of them. */
export type DrainListener = (drains: readonly Drain[]) => void;

/** The backends that operators have taken out of service. */
export abstract class Drains {
  /**
   * Calls the listener with all of them at once and after each change. Resolves once the listener has been
   * called, or they could not be read; then they are read later. The returned function ends it.
   */
  abstract follow(listener: DrainListener): Promise<() => void>;
}
