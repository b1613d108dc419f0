import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FetchRefused, type RefusalReason } from './fetch-refused.js';
import { GuardedFetcher } from './guarded-fetch.js';
import { SystemNetwork } from './network.js';
import { TestNetwork } from '../test/testing.js';

const options = { limitBytes: 1_000, timeoutMs: 20_000 };
const ports = [80, 443, 8080, 8443];

/** Notations of this machine's loopback addresses. */
const loopbackHosts = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.0.0.2',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0X7F000001',
  '0x7f.0.0.1',
  '0x7f.0x0.0x0.0x1',
  '0x7f.1',
  '017700000001',
  '0177.0.0.1',
  '0177.0000.0000.0001',
  '00000177.1',
  '0177.0x0.0.1',
  '127.0x0.0.01',
  '127.0.0.1.',
  '0',
  '0.0.0.0',
  '0x0',
  '00000000000',
  '%31%32%37.0.0.1',
  '127%2e0%2e0%2e1',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127．0．0．1',
  '127｡0｡0｡1',
  '𝟏𝟐𝟕.𝟎.𝟎.𝟏',
  '１２７。１',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000::0001]',
  '[::]',
  '[0:0:0:0:0:0:0:0]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:7F00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::127.0.0.1]',
  '[2002:7f00:1::]',
  'localhost',
  'LOCALHOST',
  'lOcAlHoSt',
  'localhost.',
  'localhost..',
  'a.localhost',
  'localhost.localdomain',
  'ⓛocalhost',
  'ｌｏｃａｌｈｏｓｔ',
  'local%68ost',
];

/** Addresses of private networks, clouds and reserved ranges. Each is tried in every notation. */
const privateIpv4 = [
  [10, 0, 0, 1],
  [100, 64, 0, 1],
  [100, 100, 100, 200],
  [168, 63, 129, 16],
  [169, 254, 169, 254],
  [169, 254, 170, 2],
  [172, 16, 0, 1],
  [172, 31, 255, 255],
  [192, 0, 0, 192],
  [192, 0, 2, 1],
  [192, 88, 99, 1],
  [192, 168, 1, 1],
  [198, 18, 0, 1],
  [198, 51, 100, 1],
  [203, 0, 113, 1],
  [224, 0, 0, 1],
  [240, 0, 0, 1],
  [255, 255, 255, 255],
] as const;

function waysToWrite([a, b, c, d]: readonly [number, number, number, number]): string[] {
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  const octal = [a, b, c, d].map((part) => `0${part.toString(8)}`).join('.');
  return [
    `${a}.${b}.${c}.${d}`,
    `${a}.${b}.${c}.${d}.`,
    `${a}.${b}.${c * 256 + d}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    String(number),
    `0x${number.toString(16)}`,
    `0${number.toString(8)}`,
    octal,
    `${a}。${b}。${c}。${d}`,
    `[::ffff:${a}.${b}.${c}.${d}]`,
    `[::ffff:${hex}]`,
    `[::${hex}]`,
    `[64:ff9b::${hex}]`,
    `[2002:${hex}::1]`,
  ];
}

const otherHosts = [
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fd12:3456:789a::1]',
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[2001:db8::1]',
  '[2001::7f00:1]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[100::1]',
  '[5f00::1]',
  '[3fff::1]',
  '[4000::1]',
  '[64:ff9b:1:a9fe:a9:fe00::]',
  'metadata',
  'metadata.google.internal',
  'METADATA.google.INTERNAL',
  'metadata.google.internal.',
  'instance-data',
  'instance-data.ec2.internal',
  'printer.local',
  'db.internal',
  'redis',
  'redis.default.svc',
  'kubernetes.default.svc.cluster.local',
  'router.home.arpa',
];

/** Public names that resolve to local addresses. */
const names: Record<string, readonly (readonly string[])[]> = {
  '127.0.0.1.nip.io': [['127.0.0.1']],
  'localtest.me': [['127.0.0.1', '::1']],
  '10-0-0-1.example.com': [['10.0.0.1']],
  'metadata.example.com': [['169.254.169.254']],
  'mapped.example.com': [['::ffff:127.0.0.1']],
  'nat64.example.com': [['64:ff9b::a9fe:a9fe']],
  'six-to-four.example.com': [['2002:7f00:1::1']],
  'zone.example.com': [['fe80::1%eth0']],
  'unspecified.example.com': [['0.0.0.0']],
  'ula.example.com': [['fd00:ec2::254']],
  'one-bad-first.example.com': [['127.0.0.1', '93.184.216.34']],
  'one-bad-last.example.com': [['93.184.216.34', '2606:4700::1111', '192.168.0.1']],
  'nonsense.example.com': [['not an address']],
  'xn--strae-oqa.example.com': [['127.0.0.1']],
};

const at = (host: string): string => `http://${host}PORT/latest/meta-data`;

/** The URLs to try, by the reason of their rejection. `PORT` marks where a port may stand. */
const hostile: Partial<Record<RefusalReason, readonly string[]>> = {
  address: [
    ...loopbackHosts.map(at),
    ...privateIpv4.flatMap((parts) => waysToWrite(parts).map(at)),
    ...otherHosts.map(at),
    ...Object.keys(names).map(at),
    ...['127.0.0.1', '[::1]', 'localhost', '169.254.169.254'].map((host) => `https://${host}PORT/`),
    'HTTP://127.0.0.1PORT/',
    'hTtP://127.0.0.1PORT/',
    'http:127.0.0.1PORT/',
    'http:/127.0.0.1PORT/',
    'http:///127.0.0.1PORT/',
    'http://///127.0.0.1PORT/',
    'http:\\\\127.0.0.1PORT\\',
    'http:/\\127.0.0.1PORT/',
    '  http://127.0.0.1PORT/  ',
    'http://127.0.0.1PORT\\@example.com/',
    'http://127.0.0.1PORT#@example.com/',
    'http://127.0.0.1PORT?@example.com/',
    'http://127.0.0.1PORT/@example.com',
    'http://@127.0.0.1PORT/',
    'http://:@127.0.0.1PORT/',
    'http://127.0.0.1\u00adPORT/',
    'http://127.0\u200b.0.1PORT/',
    'http://straße.example.comPORT/',
  ],
  credentials: [
    'http://good@127.0.0.1PORT/',
    'http://good:secret@127.0.0.1PORT/',
    'http://example.com@127.0.0.1PORT/',
    'http://example.com:80@127.0.0.1PORT/',
    'http://example.com%2f@127.0.0.1PORT/',
    'http://:secret@127.0.0.1PORT/',
    'http://a@b@127.0.0.1PORT/',
    'http://127.0.0.1PORT@example.com/',
    'http://user@example.com/',
  ],
  scheme: [
    'file:///etc/passwd',
    'FILE:///etc/passwd',
    'file://127.0.0.1/etc/passwd',
    'file:etc/passwd',
    'gopher://127.0.0.1PORT/_GET',
    'ftp://127.0.0.1/',
    'ftps://127.0.0.1/',
    'sftp://127.0.0.1/',
    'tftp://127.0.0.1/',
    'dict://127.0.0.1PORT/stats',
    'ldap://127.0.0.1/',
    'ldaps://127.0.0.1/',
    'redis://127.0.0.1/',
    'ws://127.0.0.1PORT/',
    'wss://127.0.0.1PORT/',
    'data:text/plain,hello',
    'javascript:fetch("http://127.0.0.1")',
    'blob:http://127.0.0.1/0b7c',
    'about:blank',
    'view-source:http://127.0.0.1/',
    'jar:http://127.0.0.1!/',
    'unix:/var/run/docker.sock',
    'http+unix://%2Fvar%2Frun%2Fdocker.sock/info',
    'netdoc:///etc/passwd',
    'mailto:root@localhost',
    'httpx://127.0.0.1/',
  ],
  port: [
    ...[
      0, 1, 21, 22, 23, 25, 53, 110, 143, 445, 2375, 3306, 5432, 6379, 9200, 10250, 11211, 27017, 65535,
    ].map((port) => `http://93.184.216.34:${port}/`),
    'https://93.184.216.34:22/',
    'http://93.184.216.34:0000022/',
  ],
  url: [
    '',
    ' ',
    '/',
    '//127.0.0.1/',
    '127.0.0.1',
    'http://',
    'http:///',
    'http://:80/',
    'http://?',
    'http://[::1',
    'http://::1/',
    'http://[fe80::1%25eth0]/',
    'http://[fe80::1%eth0]/',
    'http://[::ffff:127.0.0.1.]/',
    'http://[v1.x]/',
    'http://256.256.256.256/',
    'http://1.2.3.4.5/',
    'http://0x100000000/',
    'http://127.0.0.1:99999/',
    'http://127.0.0.1:-1/',
    'http://127.0.0.1:8o/',
    'http://127.0.0.1%00/',
    'http://127.0.0.1%20/',
    'http://exa mple.com/',
    'http://example.com%0d%0aHost:127.0.0.1/',
    'http://exam\tple.com/',
    'ht\ntp://example.com/',
    'http://example.com/\r\nX-Injected: 1',
    'http://example.com/\u0000',
    'java\nscript:1',
    'http://example.com./',
    'http://example.com../',
    'http://%zz/',
    `http://example.com/${'a'.repeat(8_200)}`,
    `http://example.com/${'ü'.repeat(4_000)}`,
  ],
};
const table = Object.entries(hostile).flatMap(([reason, urls]) => urls.map((url) => ({ reason, url })));

/** Counts connections, and responds to them like a web server. */
async function startCanary(host: string): Promise<{ server: Server; port: number; visits: () => number }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret');
  });
  server.listen(0, host);
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, visits: () => visits };
}

async function reasonOf(fetcher: GuardedFetcher, url: string): Promise<string> {
  try {
    await fetcher.fetch(url, options);
    return 'fetched';
  } catch (error) {
    return error instanceof FetchRefused ? error.reason : String(error);
  }
}

describe('hostile URLs', () => {
  let canary: Awaited<ReturnType<typeof startCanary>>;

  beforeEach(async () => {
    canary = await startCanary('127.0.0.1');
  });

  afterEach(() => {
    canary.server.close();
  });

  it('number at least 200', () => {
    expect(new Set(table.map(({ url }) => url)).size).toBeGreaterThanOrEqual(200);
  });

  it('are all rejected for the right reason, on a network where every connection would reach a server', async () => {
    const network = new TestNetwork({ names, elsewhere: canary.port });
    const fetcher = new GuardedFetcher({ ports }, network);
    const got: unknown[] = [];
    for (const { url } of table) {
      got.push({ url, reason: await reasonOf(fetcher, url.replace('PORT', '')) });
      got.push({ url, reason: await reasonOf(fetcher, url.replace('PORT', ':8080')) });
    }
    expect(got).toEqual(
      table.flatMap(({ url, reason }) => [
        { url, reason },
        { url, reason },
      ]),
    );
    expect(network.connections).toEqual([]);
    // The same route to the canary works for a public address, so its silence above means rejection.
    expect(await reasonOf(fetcher, 'http://93.184.216.34/')).toBe('fetched');
    expect(canary.visits()).toBe(1);
  });

  it('never connect to a server on this machine over the real network, whatever ports are allowed', async () => {
    const fetcher = new GuardedFetcher({ ports: [...ports, canary.port] });
    const urls = table.map(({ url }) => url).filter((url) => url.includes('PORT'));
    // Invented names would need a name server; literals and local names do not.
    const invented = [...Object.keys(names), 'straße'];
    const known = urls.filter((url) => !invented.some((name) => url.includes(name)));
    const wrong: string[] = [];
    for (const url of known) {
      const reason = await reasonOf(fetcher, url.replace('PORT', `:${canary.port}`));
      if (!['address', 'credentials', 'scheme'].includes(reason)) wrong.push(`${url}: ${reason}`);
    }
    expect(wrong).toEqual([]);

    const exempt = new GuardedFetcher({ allowPrivateHosts: [`127.0.0.1:${canary.port}`] });
    expect(await reasonOf(exempt, `http://127.0.0.1:${canary.port}/`)).toBe('fetched');
    expect(canary.visits()).toBe(1);
  });

  it('are rejected by the second check if a connection ends at another address than intended', async () => {
    for (const reached of ['127.0.0.1', '::1', '10.0.0.1', '::ffff:169.254.169.254', '']) {
      const network = new TestNetwork({ elsewhere: canary.port, reached });
      expect(await reasonOf(new GuardedFetcher({}, network), 'http://93.184.216.34/')).toBe('address');
    }
  });

  it('reveal nothing about the network: forbidden and missing hosts get the same message', async () => {
    const fetcher = new GuardedFetcher({}, new TestNetwork({ names }));
    const message = async (url: string): Promise<string> => {
      const error: unknown = await fetcher.fetch(url, options).catch((cause: unknown) => cause);
      return error instanceof FetchRefused ? error.message : 'no refusal';
    };
    const forbidden = await message('http://metadata.example.com/');
    expect(forbidden).not.toMatch(/\d|metadata/);
    expect(await message('http://nobody.example.com/')).toBe(forbidden);
    expect(await message('http://169.254.169.254/')).toBe(forbidden);
    expect(await message('http://93.184.216.34/')).toBe(forbidden);
  });

  it('are rejected if they name this machine by its public address', async () => {
    const network = new TestNetwork({
      names: { 'self.example.com': [['93.184.216.34']] },
      elsewhere: canary.port,
      own: ['127.0.0.1', '93.184.216.34', '2606:4700::7%eth0'],
    });
    const fetcher = new GuardedFetcher({}, network);
    for (const host of ['93.184.216.34', 'self.example.com', '[2606:4700::7]', '[64:ff9b::5db8:d822]'])
      expect([host, await reasonOf(fetcher, `http://${host}/`)]).toEqual([host, 'address']);
    expect(network.connections).toEqual([]);
  });

  it('recognize this machine by all of its interfaces', () => {
    expect(new SystemNetwork().ownAddresses()).toContain('127.0.0.1');
  });
});
