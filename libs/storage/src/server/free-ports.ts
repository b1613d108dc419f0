import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type Server, createServer } from 'node:net';

/**
 * Below the ports that Linux (from 32,768) and macOS (from 49,152) give to outgoing connections: one of these
 * would keep a restarted process from its port.
 */
const PORTS = [12_000, 32_000] as const;

/** Enough for a range that is nearly full. */
const MAX_ATTEMPTS = 1_000;

/** Distinct ports of this machine that were free a moment ago. Throws if it finds too few. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Map<number, Server>();
  try {
    for (let attempt = 0; ports.size < count; attempt++) {
      if (attempt === MAX_ATTEMPTS + count)
        throw new Error(`found only ${ports.size} of ${count} free ports`);
      const port = randomInt(...PORTS);
      const server = ports.has(port) ? undefined : await opened(port);
      if (server) ports.set(port, server);
    }
  } finally {
    for (const server of ports.values()) server.close();
  }
  return [...ports.keys()];
}

/** The wanted port if it is free, or else another. */
export async function freePort(wanted?: number): Promise<number> {
  const server = wanted === undefined ? undefined : await opened(wanted);
  if (!server) {
    const [port = 0] = await freePorts(1);
    return port;
  }
  server.close();
  return wanted ?? 0;
}

/** A server on the port, or none if it is in use. */
async function opened(port: number): Promise<Server | undefined> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
    return server;
  } catch {
    return undefined;
  }
}
