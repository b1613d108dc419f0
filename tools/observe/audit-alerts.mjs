// Fires if an audit has found a fault that no later audit has cleared. A `whole` audit also clears a fault of
// `new`.
import { counter, flat } from './series.mjs';

/** Restarted processes lose their findings; a `whole` audit runs every night. */
const WINDOW = '26h';

/**
 * The scopes without a successful audit since the last fault, for the audits of one room of the catalogue.
 */
export function unproved({ wrong, proved }) {
  const last = (name) => `max by (svc_audit_scope) (max_over_time(${name}[${WINDOW}]))`;
  const whole = `max(max_over_time(${proved}{svc_audit_scope="whole"}[${WINDOW}]))`;
  return `${last(wrong)} unless (${last(wrong)} <= ${last(proved)} or ${last(wrong)} <= on () group_left () ${whole})`;
}

/** Times of audits with findings and of those without, per process, in seconds since 1970. */
export function unprovedSeries({ wrong, proved }, others = []) {
  // Two processes, because any ledger may run an audit job.
  const of = (name, scope, seconds) =>
    flat(counter(name, `svc_audit_scope="${scope}",instance="${name === wrong ? 'a' : 'b'}"`), seconds);
  return {
    fires: [of(wrong, 'new', 900), of(proved, 'new', 800)],
    quiet: [of(wrong, 'new', 900), of(proved, 'new', 901), ...others],
    alsoFires: [
      ['without any proof', [of(wrong, 'new', 900)]],
      ['after a proof of the new part only', [of(wrong, 'whole', 900), of(proved, 'new', 901)]],
    ],
    alsoQuiet: [
      ['after a proof of the whole', [of(wrong, 'new', 900), of(proved, 'whole', 901)]],
      ['before any fault', [of(proved, 'new', 900)]],
    ],
  };
}
