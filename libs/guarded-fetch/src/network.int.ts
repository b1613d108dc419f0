import { createSocket, type Socket as NameServer } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SystemNetwork } from './network.js';

const A = 1;
const AAAA = 28;
const NAME_ERROR = 3;

/** Addresses by name and record type; a missing name does not exist, `silent.example` gets no response. */
const records: Record<string, Record<number, Buffer[]>> = {
  'both.example.com': {
    [A]: [Buffer.from([93, 184, 216, 34]), Buffer.from([127, 0, 0, 1])],
    [AAAA]: [Buffer.from('26064700000000000000000000001111', 'hex')],
  },
  'four.example.com': { [A]: [Buffer.from([93, 184, 216, 34])] },
  'six.example.com': { [AAAA]: [Buffer.from('fd000ec2000000000000000000000254', 'hex')] },
};

let nameServer: NameServer;
let network: SystemNetwork;
let questions: string[];

/** Parses the name and type of a DNS question, and responds with the records above. */
function reply(message: Buffer): Buffer | undefined {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  const name = labels.join('.').toLowerCase();
  questions.push(name);
  if (name === 'silent.example.com') return undefined;
  const type = message.readUInt16BE(at + 1);
  const found = records[name]?.[type] ?? [];
  const head = Buffer.alloc(12);
  message.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (records[name] ? 0 : NAME_ERROR), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(found.length, 6);
  const responses = found.map((address) => {
    const response = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length]);
    return Buffer.concat([response, address]);
  });
  return Buffer.concat([head, message.subarray(12, at + 5), ...responses]);
}

beforeEach(async () => {
  questions = [];
  nameServer = createSocket('udp4', (message, from) => {
    const response = reply(message);
    if (response) nameServer.send(response, from.port, from.address);
  });
  nameServer.bind(0, '127.0.0.1');
  await once(nameServer, 'listening');
  network = new SystemNetwork([`127.0.0.1:${nameServer.address().port}`]);
});

afterEach(() => {
  nameServer.close();
});

const never = new AbortController().signal;

describe('SystemNetwork.resolve', () => {
  it.each([
    ['both.example.com', ['93.184.216.34', '127.0.0.1', '2606:4700::1111']],
    ['four.example.com', ['93.184.216.34']],
    ['six.example.com', ['fd00:ec2::254']],
  ])('returns every address of both families of %s', async (host, addresses) => {
    expect(await network.resolve({ host, local: false }, never)).toEqual(addresses);
  });

  it('rejects for a name that does not exist, and tries no search list', async () => {
    await expect(network.resolve({ host: 'db.corp', local: false }, never)).rejects.toThrow('ENOTFOUND');
    expect(new Set(questions)).toEqual(new Set(['db.corp']));
  });

  it('stops its queries when the signal aborts', async () => {
    const ended = new AbortController();
    const query = once(nameServer, 'message');
    const resolved = network.resolve({ host: 'silent.example.com', local: false }, ended.signal);
    const failure = resolved.catch((error: unknown) => String(error));
    await query;
    ended.abort();
    expect(await failure).toContain('ECANCELLED');
  });

  it('asks the system for exempt names, including the hosts file', async () => {
    expect(await network.resolve({ host: 'localhost', local: true }, never)).toContain('127.0.0.1');
  });
});

describe('SystemNetwork.connect', () => {
  it('tries the addresses until one accepts, and reports which', async () => {
    const server = createServer((socket) => socket.end());
    onTestFinished(() => void server.close());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { socket, remoteAddress } = await network.connect(['127.0.0.9', '::1', '127.0.0.1'], port, never);
    expect(remoteAddress).toBe('127.0.0.1');
    socket.destroy();
    await expect(network.connect(['127.0.0.9', '127.0.0.8'], port, never)).rejects.toThrow(/ECONNREFUSED|^$/);
  });
});
