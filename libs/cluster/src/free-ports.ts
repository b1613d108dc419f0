import { type AddressInfo, createServer } from 'node:net';

/** Ports of this machine that nobody listened on a moment ago, no two alike. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    ports.push((server.address() as AddressInfo).port);
  }
  for (const server of servers) server.close();
  return ports;
}
