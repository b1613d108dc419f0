import { z } from 'zod';

/** From the best to the worst. What an operator has chosen is first: it holds once every router knows it. */
const BACKEND_CONDITIONS = ['draining', 'off', 'up', 'full', 'behind', 'cooling', 'wrong_chain'] as const;

/** Routers of an earlier release report none. */
const Share = z.number().nullable().default(null);

/** A backend of a model, or a node of a blockchain network, as routers see it now. */
export const BackendState = z.object({
  model: z.string().describe('The id of the model, or `#crypto-rpc-` and the name of the network.'),
  name: z.string().describe('As in metrics and in the charges of requests.'),
  url: z.string(),
  state: z
    .enum(BACKEND_CONDITIONS)
    .describe(
      '`full`: no slot is free, or its own metrics say so. `behind`: a node that others are ahead of, called after them. `cooling`: it failed and is called last for a while. `wrong_chain`: a node of another chain, not called. `draining`: taken out of service by an operator, as all routers know; calls under way end. `off`: the same, and it is not checked.',
    ),
  reason: z.string().nullable().describe('Why it is not `up`.'),
  drainedAs: z
    .string()
    .nullable()
    .default(null)
    .describe(
      'The name under which an operator has taken it out of service: its own, or that of its entry with `eachAddress`.',
    ),
  inFlight: z.int().describe('The calls under way.'),
  waiting: z.int().describe('The calls that wait for a slot.'),
  maxInFlight: z.int().describe('Its slots.'),
  firstTokenP50Ms: Share.describe(
    'Half of the streams of the last one to two minutes began within this time, within an eighth. Null without any; of several routers the highest.',
  ),
  firstTokenP99Ms: Share.describe('The same for 99 of 100 streams.'),
  failedShare: Share.describe(
    'The share of its calls in the same time that failed, without those that it refused for what they asked. Null without any; of several routers the highest.',
  ),
  hitShare: Share.describe(
    'The share of about the last million prompt tokens that it had in its cache, as it reports. Null if it reports none, or is the only backend; of several routers about the mean.',
  ),
});
export type BackendState = z.infer<typeof BackendState>;

/** What several routers report. */
export interface RouterReport {
  readonly routers: number;
  readonly backends: readonly BackendState[];
}

/** The state of all backends. */
export abstract class BackendStates {
  /** Rejects with UNAVAILABLE if no router responds. */
  abstract report(): Promise<RouterReport>;
}

/** The reports of several routers as one: sums of their counts, and the worst state of each backend. */
export function joinedReports(reports: readonly (readonly BackendState[])[]): RouterReport {
  const rows = new Map<string, BackendState>();
  for (const row of reports.flat()) {
    const key = JSON.stringify([row.model, row.name, row.url]);
    const known = rows.get(key);
    rows.set(key, known ? joined(known, row) : row);
  }
  return { routers: reports.length, backends: [...rows.values()] };
}

function joined(one: BackendState, other: BackendState): BackendState {
  const rank = ({ state }: BackendState): number => BACKEND_CONDITIONS.indexOf(state);
  const { state, reason, drainedAs } = rank(other) > rank(one) ? other : one;
  return {
    ...one,
    state,
    reason,
    drainedAs,
    inFlight: one.inFlight + other.inFlight,
    waiting: one.waiting + other.waiting,
    maxInFlight: one.maxInFlight + other.maxInFlight,
    firstTokenP50Ms: highest(one.firstTokenP50Ms, other.firstTokenP50Ms),
    firstTokenP99Ms: highest(one.firstTokenP99Ms, other.firstTokenP99Ms),
    failedShare: highest(one.failedShare, other.failedShare),
    hitShare: meanOf(one.hitShare, other.hitShare),
  };
}

function highest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function meanOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : (one + other) / 2;
}
