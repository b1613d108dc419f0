import type { RouteDefinition } from '@svc/api/route';
import { type Caller, type KeyRestrictions, matchesPattern } from '@svc/contracts/ports';
import { Problem } from '@svc/contracts/problems';
import { type Incoming, routeOf } from '@svc/runtime';
import { type AddressRange, contains, networkIn } from './networks.js';

/** Before the path of every endpoint. */
const ROOT = '/api/v1';

/**
 * Refuses a request for which its key may not be used, whatever model it asks for: AUTHENTICATION_FAILED,
 * ADDRESS_NOT_ALLOWED, ENDPOINT_NOT_ALLOWED.
 */
export function refuseUse({ isDisabled, restrictions, inBatch }: Caller, request: Incoming): void {
  if (isDisabled) throw new Problem('AUTHENTICATION_FAILED', { message: 'This API key is disabled.' });
  if (!restrictions) return;
  // A line comes from no address; its batch came from one.
  if (!inBatch && !mayComeFrom(restrictions, request.ip))
    throw new Problem('ADDRESS_NOT_ALLOWED', {
      message: `This API key may not be used from the address ${request.ip}.`,
    });
  const route = routeOf(request);
  if (!route || !needsKey(route) || mayCall(restrictions, route)) return;
  throw new Problem('ENDPOINT_NOT_ALLOWED', {
    message: `This API key may not use ${route.method} ${endpointOf(route)}.`,
  });
}

/** Whether a key's list of endpoints applies to a route. What needs no key may be read with any. */
export const needsKey = ({ access }: Pick<RouteDefinition, 'access'>): boolean =>
  access === 'key' || access === 'admin' || access === 'key-or-wallet';

/** The path of a route in a key's list of endpoints, such as `/crypto/rpc/{network}`. */
export const endpointOf = ({ path }: Pick<RouteDefinition, 'path'>): string =>
  (path.startsWith(`${ROOT}/`) ? path.slice(ROOT.length) : path).replace(/:(\w+)/g, '{$1}');

function mayCall({ endpoints, isForManagement }: KeyRestrictions, route: RouteDefinition): boolean {
  if (isForManagement && route.access === 'key-or-wallet') return false;
  return endpoints?.some((endpoint) => matchesPattern(endpoint, endpointOf(route))) ?? true;
}

function mayComeFrom({ addresses }: KeyRestrictions, ip: string): boolean {
  if (!addresses) return true;
  const address = networkIn(ip);
  return address !== undefined && networksOf(addresses).some((network) => contains(network, address));
}

const parsed = new WeakMap<readonly string[], readonly AddressRange[]>();

/** Those of a cached key are parsed once. */
function networksOf(addresses: readonly string[]): readonly AddressRange[] {
  let networks = parsed.get(addresses);
  if (!networks) {
    networks = addresses.flatMap((text) => networkIn(text) ?? []);
    parsed.set(addresses, networks);
  }
  return networks;
}
