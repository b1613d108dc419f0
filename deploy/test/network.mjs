// Evaluates NetworkPolicies like a network plugin: which pods may connect to which.

const matches = (selector, labels) =>
  Object.entries(selector?.matchLabels ?? {}).every(([name, value]) => labels[name] === value);

/**
 * A pod of the release, or another endpoint: `{ labels, namespace }`, or `{ address }` outside of the
 * cluster.
 */
function isPeer(peer, end, ownNamespace) {
  if (peer.ipBlock) return end.address !== undefined && isIn(peer.ipBlock, end.address);
  if (end.address !== undefined) return false;
  const isNamespace = peer.namespaceSelector
    ? matches(peer.namespaceSelector, { 'kubernetes.io/metadata.name': end.namespace })
    : end.namespace === ownNamespace;
  return isNamespace && matches(peer.podSelector, end.labels);
}

const number = (address) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const isInRange = (range, address) => {
  const [base, bits] = range.split('/');
  return Math.floor(number(address) / 2 ** (32 - bits)) === Math.floor(number(base) / 2 ** (32 - bits));
};
/** IPv4 only. */
const isIn = ({ cidr, except = [] }, address) =>
  !cidr.includes(':') && isInRange(cidr, address) && !except.some((range) => isInRange(range, address));

/**
 * Whether a pod's policies allow one direction of traffic, to or from an endpoint, at a port by name or
 * number.
 */
function isAllowed(policies, { pod, end, ports, direction }) {
  const [rules, peers] = direction === 'Egress' ? ['egress', 'to'] : ['ingress', 'from'];
  const those = policies.filter(
    ({ spec }) => spec.policyTypes.includes(direction) && matches(spec.podSelector, pod.labels),
  );
  if (those.length === 0) return true;
  return those.some(({ spec }) =>
    (spec[rules] ?? []).some(
      (rule) =>
        (!rule.ports || rule.ports.some(({ port }) => ports.includes(port))) &&
        (!rule[peers] || rule[peers].some((peer) => isPeer(peer, end, pod.namespace))),
    ),
  );
}

/**
 * Whether a connection is allowed. Endpoints outside of the release have no policies. Ports: its number,
 * and its name.
 */
export function mayReach(release, { from, to, ports }) {
  const policies = release.all('NetworkPolicy');
  const leaves = !from.isOurs || isAllowed(policies, { pod: from, end: to, ports, direction: 'Egress' });
  return leaves && (!to.isOurs || isAllowed(policies, { pod: to, end: from, ports, direction: 'Ingress' }));
}

/** A pod of the release. */
export function ours(release, name) {
  const { metadata } = release.pod(name);
  return { isOurs: true, namespace: 'platform', labels: metadata.labels };
}
