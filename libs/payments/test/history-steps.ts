import fc from 'fast-check';
import { FACILITATORS, type FacilitatorState, NODES, type NodeState, type Replaced } from './test-chain.js';

const FAULTS = [
  'too low',
  'too high',
  'asset',
  'receiver',
  'network',
  'scheme',
  'text',
  'signature',
  'expired',
] as const;
export type Fault = (typeof FAULTS)[number];

/**
 * The possible steps. `at` selects one of two processes, `of` a payer, `which` one of the existing payments.
 */
export type Step =
  | { readonly do: 'pay'; readonly at: number; readonly of: number; readonly usd: number }
  | { readonly do: 'faulty'; readonly at: number; readonly of: number; readonly fault: Fault }
  | { readonly do: 'again'; readonly at: number; readonly which: number; readonly times: number }
  | { readonly do: 'mine'; readonly blocks: number }
  | { readonly do: 'reorg'; readonly depth: number; readonly how: Replaced }
  | { readonly do: 'pass'; readonly minutes: number }
  | { readonly do: 'goOn'; readonly at: readonly number[] }
  | { readonly do: 'retry'; readonly at: number; readonly which: number }
  | { readonly do: 'node'; readonly at: number; readonly state: NodeState }
  | { readonly do: 'facilitator'; readonly state: FacilitatorState }
  | { readonly do: 'books'; readonly are: 'there' | 'away' }
  | { readonly do: 'kill'; readonly at: number; readonly call: number; readonly isAfter: boolean }
  | { readonly do: 'others'; readonly which: number; readonly how: 'settle' | 'cancel' }
  | { readonly do: 'spend'; readonly of: number };

export interface Plan {
  readonly submits: 'signer' | 'facilitator';
  readonly confirmations: number;
  readonly steps: readonly Step[];
}

const at = fc.nat(1);
const of = fc.nat(2);
const which = fc.nat(7);
const is = <Name extends string>(name: Name): fc.Arbitrary<Name> => fc.constant(name);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: is('pay'), at, of, usd: fc.integer({ min: 5, max: 50 }) }) },
  { weight: 2, arbitrary: fc.record({ do: is('faulty'), at, of, fault: fc.constantFrom(...FAULTS) }) },
  { weight: 3, arbitrary: fc.record({ do: is('again'), at, which, times: fc.constantFrom(1, 1, 2, 20) }) },
  { weight: 6, arbitrary: fc.record({ do: is('mine'), blocks: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('reorg'),
      depth: fc.constantFrom(1, 2, 3, 3),
      how: fc.constantFrom<Replaced>('again', 'later', 'lost'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: is('pass'), minutes: fc.constantFrom(1, 1, 1, 8) }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: is('goOn'), at: fc.constantFrom([0], [1], [0, 1], [0, 0, 1, 1]) }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('retry'), at, which }) },
  { weight: 2, arbitrary: fc.record({ do: is('node'), at, state: fc.constantFrom('up', ...NODES) }) },
  { weight: 2, arbitrary: fc.record({ do: is('facilitator'), state: fc.constantFrom(...FACILITATORS) }) },
  { weight: 1, arbitrary: fc.record({ do: is('books'), are: fc.constantFrom('there', 'away') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('kill'),
      at,
      call: fc.integer({ min: 1, max: 12 }),
      isAfter: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: is('others'), which, how: fc.constantFrom('settle', 'settle', 'cancel') }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('spend'), of }) },
);

/** A payment that is credited and then lost by its chain, which is rare by chance. */
const loss: fc.Arbitrary<readonly Step[]> = fc
  .record({ at, of, how: fc.constantFrom<Replaced>('again', 'later', 'lost') })
  .map(({ at: one, of: payer, how }) => [
    { do: 'pay', at: one, of: payer, usd: 7 },
    { do: 'goOn', at: [one] },
    { do: 'mine', blocks: 3 },
    { do: 'goOn', at: [one] },
    { do: 'reorg', depth: 3, how },
    { do: 'goOn', at: [one] },
  ]);

const part = fc.oneof(
  { weight: 19, arbitrary: step.map((one): readonly Step[] => [one]) },
  { weight: 1, arbitrary: loss },
);

export const plan: fc.Arbitrary<Plan> = fc.record({
  submits: fc.constantFrom('signer', 'facilitator'),
  confirmations: fc.constantFrom(1, 1, 2, 3),
  steps: fc.array(part, { minLength: 5, maxLength: 24, size: 'max' }).map((parts) => parts.flat()),
});
