import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AddressBlock, isPublicAddress } from './blocked-addresses.js';
import { FetchRefused } from './fetch-refused.js';
import type { Network } from './network.js';
import type { Target } from './target.js';

/** Further addresses are checked, but not tried. */
const MAX_TRIED = 8;

/**
 * Connects to a target: its name is resolved once, every address is checked, the connection goes to a checked
 * address, and the remote address is checked again. Throws FetchRefused, or the network's error.
 */
export async function dial(target: Target, network: Network, signal: AbortSignal): Promise<Socket> {
  const addresses = await addressesOf(target, network, signal);
  const own = new AddressBlock();
  for (const address of network.ownAddresses()) own.addAddress(address);
  // Firewalls often let a machine reach itself, so its own public addresses do not count as public.
  const isAllowed = (address: string): boolean =>
    target.exempt || (isPublicAddress(address) && !own.has(address));

  if (!addresses.every(isAllowed)) throw new FetchRefused('address');
  const { socket, remoteAddress } = await network.connect(addresses.slice(0, MAX_TRIED), target.port, signal);
  socket.on('error', () => undefined);
  if (!remoteAddress || !isAllowed(remoteAddress)) {
    socket.destroy();
    throw new FetchRefused('address');
  }
  return target.url.protocol === 'https:' ? secure(socket, target.host, signal) : socket;
}

async function addressesOf(
  { host, exempt }: Target,
  network: Network,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  const addresses = await orAbort(network.resolve({ host, local: exempt }, signal), signal);
  if (addresses.length === 0) throw new FetchRefused('unreachable');
  return addresses;
}

/** TLS with the host name of the URL, never with an address's name. */
async function secure(socket: Socket, host: string, signal: AbortSignal): Promise<Socket> {
  const secured = connectTls({
    socket,
    host,
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  });
  secured.on('error', () => undefined);
  try {
    await once(secured, 'secureConnect', { signal });
    return secured;
  } catch (error) {
    secured.destroy();
    socket.destroy();
    throw error;
  }
}

/** A system lookup can't be cancelled, but need not be awaited. */
function orAbort<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new FetchRefused('timeout')), { once: true });
    promise.then(resolve, reject);
  });
}
