import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FetchRefused } from './fetch-refused.js';
import { GuardedFetcher } from './guarded-fetch.js';
import { TestNetwork } from '../test/testing.js';

const options = { limitBytes: 1_000, timeoutMs: 20_000 };
const trusted = getCACertificates();
const names = Object.fromEntries(
  ['example.com', 'other.example.com'].map((name) => [name, [['93.184.216.34']]]),
);

let server: Server;
let fetcher: GuardedFetcher;
let certificate: string;

/** A self-signed key and certificate for `example.com` and one address. */
async function createIdentity(): Promise<{ key: string; cert: string }> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'example.com' }], {
    keyType: 'ec',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'example.com' },
          { type: 7, ip: '1.1.1.1' },
        ],
      },
    ],
  });
  return { key, cert };
}

beforeAll(async () => {
  const identity = await createIdentity();
  certificate = identity.cert;
  server = createServer(identity, (request, response) => {
    if (request.url === '/down') response.writeHead(302, { location: 'http://example.com/' }).end();
    else if (request.url === '/on') response.writeHead(302, { location: '/' }).end();
    else response.end(`${request.headers.host} ${String((request.socket as TLSSocket).servername)}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  fetcher = new GuardedFetcher({}, new TestNetwork({ names, elsewhere: port }));
});

afterAll(() => {
  setDefaultCACertificates(trusted);
  server.closeAllConnections();
  server.close();
});

async function outcome(url: string): Promise<string> {
  try {
    return (await fetcher.fetch(url, options)).bytes.toString();
  } catch (error) {
    return error instanceof FetchRefused ? error.reason : String(error);
  }
}

describe('https', () => {
  it('is rejected with an untrusted certificate', async () => {
    expect(await outcome('https://example.com/')).toBe('unreachable');
  });

  it('uses the host name of the URL in SNI and Host, whatever the address', async () => {
    setDefaultCACertificates([...trusted, certificate]);
    expect(await outcome('https://example.com/')).toBe('example.com example.com');
    expect(await outcome('https://example.com:8443/')).toBe('example.com:8443 example.com');
    expect(await outcome('https://1.1.1.1/')).toBe('1.1.1.1 false');
  });

  it('is rejected if the certificate is for another name or address', async () => {
    setDefaultCACertificates([...trusted, certificate]);
    expect(await outcome('https://other.example.com/')).toBe('unreachable');
    expect(await outcome('https://8.8.8.8/')).toBe('unreachable');
  });

  it('may redirect within https but never down to http', async () => {
    setDefaultCACertificates([...trusted, certificate]);
    expect(await outcome('https://example.com/on')).toBe('example.com example.com');
    expect(await outcome('https://example.com/down')).toBe('redirect');
  });
});
