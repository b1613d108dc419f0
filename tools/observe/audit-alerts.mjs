// Whether an audit has found a fault that no later one has cleared. An audit of the whole clears one of the new part as well.
import { counter, flat } from './series.mjs';

/** Processes that start again forget what they found; an audit of the whole comes every night. */
const WINDOW = '26h';

/** The scopes in which no proof followed the last fault, of the audits of a room of the catalogue. */
export function unproved({ wrong, proved }) {
  const last = (name) => `max by (svc_audit_scope) (max_over_time(${name}[${WINDOW}]))`;
  const whole = `max(max_over_time(${proved}{svc_audit_scope="whole"}[${WINDOW}]))`;
  return `${last(wrong)} unless (${last(wrong)} <= ${last(proved)} or ${last(wrong)} <= on () group_left () ${whole})`;
}

/** When audits of processes found something, and when others found nothing, in seconds since 1970. */
export function unprovedSeries({ wrong, proved }, others = []) {
  // Two processes, as audits are run by whichever takes the job.
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
