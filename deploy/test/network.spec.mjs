import { isIP } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { EXTERNAL, Release, SERVICES } from './chart.mjs';
import { mayReach, ours } from './network.mjs';

/** The variable with the address of each service and each server. */
const CALLS = {
  'api-gateway': 'GATEWAY_URL',
  'billing-ledger': 'LEDGER_URL',
  'inference-router': 'ROUTER_URL',
  'rate-limiter': 'LIMITER_URL',
  'retrieval-worker': 'RETRIEVAL_URL',
  'x402-payments': 'PAYMENTS_URL',
};
const DATA = { kafka: 'KAFKA_BROKERS', postgres: 'DATABASE_URL', redis: 'REDIS_URL' };
const PORTS = { postgres: 5432, redis: 6379, kafka: 9093 };
const MEMBERS = [...SERVICES, 'catalog', 'migrate', 'topics', 'first-account', 'test'];

const elsewhere = (namespace, labels = {}) => ({ namespace, labels });
const outside = (address) => ({ address });

let release;

beforeAll(async () => {
  const peers = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'data' } } }];
  const { postgres, redis, kafka } = EXTERNAL;
  release = await Release.of({
    ...EXTERNAL,
    postgres: { ...postgres, peers },
    redis: { ...redis, peers },
    kafka: { ...kafka, peers },
    backends: {
      peers: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'models' } } }],
    },
  });
});

/** The names whose address the process has. */
const known = (from, names) => Object.keys(names).filter((name) => names[name] in release.environment(from));

const reach = (from, to, ports) => mayReach(release, { from, to, ports });

describe('within the release', () => {
  it('only pods that have the address of a service can connect to it', () => {
    for (const from of MEMBERS) {
      const reached = SERVICES.filter((to) => {
        const [{ containerPort }] = release.pod(to).spec.containers[0].ports;
        return from !== to && reach(ours(release, from), ours(release, to), ['http', containerPort]);
      });
      expect([from, reached.toSorted()]).toEqual([
        from,
        from === 'test' ? ['api-gateway'] : known(from, CALLS),
      ]);
    }
  });

  it('the gateway has the address of every other service, and the router that of the gateway only', () => {
    expect(['api-gateway', ...known('api-gateway', CALLS)]).toEqual(Object.keys(CALLS));
    expect(known('inference-router', { ...CALLS, ...DATA })).toEqual(['api-gateway']);
  });

  it('only pods that have the address of a data server can connect to it', () => {
    for (const from of MEMBERS) {
      const reached = Object.keys(PORTS).filter((server) =>
        reach(ours(release, from), elsewhere('data'), [PORTS[server]]),
      );
      expect([from, reached.toSorted()]).toEqual([from, known(from, DATA)]);
    }
  });

  it('only pods that have the address of the model simulator can connect to it, and it can connect to nothing', () => {
    const simulator = ours(release, 'model-simulator');
    const reaching = MEMBERS.filter((name) => reach(ours(release, name), simulator, ['http', 4000]));
    expect(reaching).toEqual(['inference-router', 'retrieval-worker']);
    expect(reach(elsewhere('ingress'), simulator, ['http', 4000])).toBe(false);
    expect(reach(simulator, elsewhere('kube-system'), [53])).toBe(false);
    expect(reach(simulator, ours(release, 'api-gateway'), ['http', 3000])).toBe(false);
  });

  it("only the Jobs of the first account and of the catalogue's check, and the test, can connect to the gateway's operator port", () => {
    const gateway = ours(release, 'api-gateway');
    const reaching = MEMBERS.filter((name) => reach(ours(release, name), gateway, ['operator', 3001]));
    expect(reaching).toEqual(['catalog', 'first-account', 'test']);
  });

  it('every pod can resolve names', () => {
    for (const from of MEMBERS) expect(reach(ours(release, from), elsewhere('kube-system'), [53])).toBe(true);
  });
});

describe('from outside the release', () => {
  it('clients can only connect to the public API', () => {
    const reached = SERVICES.filter((to) => reach(elsewhere('ingress'), ours(release, to), ['http']));
    expect(reached).toEqual(['api-gateway']);
  });

  it('a Service of type LoadBalancer exposes only its public port', async () => {
    const services = { 'api-gateway': { service: { type: 'LoadBalancer' } } };
    const opened = await Release.of({ ...EXTERNAL, services });
    const from = { address: '203.0.113.7' };
    const reached = (of, port) =>
      SERVICES.filter((name) => mayReach(of, { from, to: ours(of, name), ports: [port] }));
    expect(reached(opened, 'http')).toEqual(['api-gateway']);
    expect(reached(opened, 'operator')).toEqual([]);
    expect(reached(release, 'http')).toEqual([]);
  });

  it('names are resolved on the port that the DNS pods listen on', async () => {
    const moved = await Release.of({ ...EXTERNAL, networkPolicy: { dnsPort: 5353 } });
    const at = (port) =>
      mayReach(moved, {
        from: ours(moved, 'rate-limiter'),
        to: elsewhere('kube-system'),
        ports: [port],
      });
    expect([at(5353), at(53)]).toEqual([true, false]);
  });

  it('only the test can connect to the operator’s API if no operators are listed', async () => {
    const gateway = ours(release, 'api-gateway');
    const reached = ['ingress', 'platform', 'default'].filter((name) =>
      reach(elsewhere(name), gateway, ['operator']),
    );
    expect(reached).toEqual([]);
    expect(reach(ours(release, 'test'), gateway, ['operator'])).toBe(true);
    const operators = [{ podSelector: { matchLabels: { app: 'console' } } }];
    const opened = await Release.of({ ...EXTERNAL, networkPolicy: { operators } });
    expect(
      mayReach(opened, { from: elsewhere('platform', { app: 'console' }), to: gateway, ports: ['operator'] }),
    ).toBe(true);
  });

  it('only the listed peers can connect to the port for PROXY protocol headers', async () => {
    const peers = [{ ipBlock: { cidr: '192.0.2.0/24' } }];
    const opened = await Release.of({ ...EXTERNAL, proxyProtocol: { enabled: true, peers } });
    const gateway = ours(opened, 'api-gateway');
    const reached = [outside('192.0.2.7'), outside('203.0.113.7'), elsewhere('ingress')].map((from) =>
      mayReach(opened, { from, to: gateway, ports: ['proxy-protocol', 3010] }),
    );
    expect(reached).toEqual([true, false, false]);
    expect(mayReach(opened, { from: outside('192.0.2.7'), to: gateway, ports: ['http'] })).toBe(false);
    expect(opened.environment('api-gateway').GATEWAY_PROXY_LISTEN).toBe('3010');
    const { selector, ports } = opened.get('Service', 'proxy-protocol').spec;
    expect(gateway.labels).toMatchObject(selector);
    const [{ targetPort }] = ports;
    expect(opened.pod('api-gateway').spec.containers[0].ports).toContainEqual({
      name: targetPort,
      containerPort: 3010,
    });
    expect(release.find('Service', 'proxy-protocol')).toBeUndefined();
    expect(release.environment('api-gateway')).not.toHaveProperty('GATEWAY_PROXY_LISTEN');
  });

  it('monitoring can connect to the ports with metrics', () => {
    for (const to of SERVICES) {
      const port = to === 'api-gateway' ? 'operator' : 'http';
      expect([to, reach(elsewhere('monitoring'), ours(release, to), [port])]).toEqual([to, true]);
    }
  });
});

describe('to addresses outside the cluster', () => {
  const PUBLIC = ['93.184.215.14', '1.1.1.1'];
  const PRIVATE = [
    '10.0.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
  ];

  const leaving = (of, address = PUBLIC[0], port = 443) =>
    MEMBERS.filter((from) => mayReach(of, { from: ours(of, from), to: outside(address), ports: [port] }));

  it('only the retrieval worker can connect, to public addresses on web ports', () => {
    for (const address of PUBLIC) expect(leaving(release, address)).toEqual(['retrieval-worker']);
    expect(leaving(release, PUBLIC[0], 22)).toEqual([]);
  });

  it('the gateway can connect if it is configured to fetch files by URL, and only then tries to', async () => {
    expect(release.environment('api-gateway').GATEWAY_ATTACHMENT_URLS).toBe('off');
    const fetching = await Release.of({
      ...EXTERNAL,
      services: { 'api-gateway': { reachesInternet: true } },
    });
    expect(leaving(fetching)).toEqual(['api-gateway', 'retrieval-worker']);
    expect(fetching.environment('api-gateway').GATEWAY_ATTACHMENT_URLS).toBe('on');
  });

  it.each([
    ['a Secret with its node', { payments: { existingSecret: 'payments' } }],
    [
      'a facilitator',
      {
        services: { 'x402-payments': { settings: { X402_FACILITATOR_URL: 'https://facilitator.example' } } },
      },
    ],
  ])('x402-payments can connect with %s, and with peers only to these', async (_what, given) => {
    expect(leaving(await Release.of({ ...EXTERNAL, ...given }))).toEqual([
      'retrieval-worker',
      'x402-payments',
    ]);
    const peers = [{ ipBlock: { cidr: '192.0.2.7/32' } }];
    const own = await Release.of({ ...EXTERNAL, ...given, payments: { ...given.payments, peers } });
    expect(leaving(own)).toEqual(['retrieval-worker']);
    expect(leaving(own, '192.0.2.7', 8545)).toEqual(['x402-payments']);
  });

  it('no pod can connect to private addresses or to the metadata servers of clouds', () => {
    for (const from of MEMBERS) {
      const reached = PRIVATE.filter((address) => reach(ours(release, from), outside(address), [80]));
      expect([from, reached]).toEqual([from, []]);
    }
  });

  it('each excluded range is smaller than the range that it is excluded from, as the API server requires', () => {
    const blocks = release
      .all('NetworkPolicy')
      .flatMap(({ spec: { egress = [] } }) => egress)
      .flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    expect(blocks.map(({ cidr }) => cidr)).toEqual(['0.0.0.0/0', '::/0']);
    for (const { cidr, except } of blocks) {
      for (const range of except) {
        const [address, bits] = range.split('/');
        expect([range, isIP(address)]).toEqual([range, isIP(cidr.split('/')[0])]);
        expect([range, Number(bits) > 0]).toEqual([range, true]);
        // An IPv4 address in IPv6 notation, which the process treats as IPv4.
        expect(range).not.toMatch(/^::ffff:/i);
      }
    }
  });

  it('only the router can connect to model servers', () => {
    const asking = MEMBERS.filter((from) => reach(ours(release, from), elsewhere('models'), [8000]));
    expect(asking).toEqual(['inference-router']);
  });

  it('every service can connect to the collector if one is configured', async () => {
    const peers = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'otel' } } }];
    const values = { telemetry: { otlpEndpoint: 'http://collector.otel:4318', peers } };
    const observed = await Release.of({ ...EXTERNAL, ...values });
    for (const name of SERVICES) {
      const towards = { from: ours(observed, name), to: elsewhere('otel') };
      expect(mayReach(observed, { ...towards, ports: [4318] })).toBe(true);
      // The router may call model servers anywhere in the cluster, at any port.
      expect(mayReach(observed, { ...towards, ports: [22] })).toBe(name === 'inference-router');
      expect(observed.environment(name).OTEL_EXPORTER_OTLP_ENDPOINT).toBe('http://collector.otel:4318');
    }
  });
});

describe('a browser', () => {
  const devtools = ['devtools', 9222];

  it('accepts connections only from the retrieval worker, and can connect to nothing', async () => {
    const browsing = await Release.of({ ...EXTERNAL, browser: { enabled: true } });
    const browser = ours(browsing, 'browser');
    const reaching = MEMBERS.filter((name) =>
      mayReach(browsing, { from: ours(browsing, name), to: browser, ports: devtools }),
    );
    expect(reaching).toEqual(['retrieval-worker']);
    expect(mayReach(browsing, { from: elsewhere('ingress'), to: browser, ports: devtools })).toBe(false);
    const reached = [
      ...MEMBERS.map((name) => ours(browsing, name)),
      elsewhere('data'),
      elsewhere('kube-system'),
      outside('93.184.215.14'),
      outside('169.254.169.254'),
    ].filter((to) =>
      [53, 80, 443, 6379, 'http'].some((port) => mayReach(browsing, { from: browser, to, ports: [port] })),
    );
    expect(reached).toEqual([]);
    const { hostname, port } = new URL(browsing.environment('retrieval-worker').RETRIEVAL_BROWSER_URL);
    expect([hostname, port]).toEqual(['svc-browser', '9222']);
    const service = browsing.get('Service', 'browser');
    expect(browsing.pod('browser').metadata.labels).toMatchObject(service.spec.selector);
    expect(service.spec.ports[0]).toMatchObject({ port: 9222, targetPort: 'devtools' });
    expect(browsing.environment('api-gateway')).not.toHaveProperty('RETRIEVAL_BROWSER_URL');
  });

  it('that runs elsewhere is reached at its peers, and no address is set without a browser', async () => {
    const peers = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'browsers' } } }];
    const url = 'http://browser.browsers:9222';
    const asking = await Release.of({ ...EXTERNAL, browser: { url, peers } });
    expect(asking.environment('retrieval-worker').RETRIEVAL_BROWSER_URL).toBe(url);
    const reaching = MEMBERS.filter((name) =>
      mayReach(asking, { from: ours(asking, name), to: elsewhere('browsers'), ports: [9222] }),
    );
    // The router may call model servers in any namespace by default.
    expect(reaching).toEqual(['inference-router', 'retrieval-worker']);
    expect(release.find('Deployment', 'browser')).toBeUndefined();
    expect(release.environment('retrieval-worker')).not.toHaveProperty('RETRIEVAL_BROWSER_URL');
  });
});

it('creates no NetworkPolicy if they are disabled', async () => {
  const open = await Release.of({ ...EXTERNAL, networkPolicy: { enabled: false } });
  expect(open.all('NetworkPolicy')).toEqual([]);
});
