import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { routes } from '@svc/api';
import { describe, expect, it } from 'vitest';
import { prometheusLabel, prometheusName } from '../src/export/prometheus-text.js';
import { CATALOGUE } from '../src/instruments/catalogue.js';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = readdirSync(join(root, 'deploy/runbooks')).map(
  (name) => [name, read(`deploy/runbooks/${name}`)] as const,
);

/** The distinct matches of a pattern's first group. */
const all = (text: string, pattern: RegExp): string[] => [
  ...new Set(Array.from(text.matchAll(pattern), ([, found = '']) => found)),
];

/** The names of the series that rules record. */
const FILES = 'deploy/charts/platform/files';
const RECORDED = all(read(`${FILES}/alerts/svc.rules.yml`), /record: (svc:\S+)/g);

/**
 * The labels of each series by its Prometheus name, including those that Prometheus, its configuration and
 * histograms add.
 */
const LABELS = new Map<string, readonly string[]>([
  ['up', ['job', 'instance', 'release']],
  ...RECORDED.map((name) => [name, ['job', 'release']] as const),
]);
for (const metric of CATALOGUE) {
  const name = prometheusName(metric);
  const labels = ['job', 'instance', 'release', ...metric.descriptor.labels.map(prometheusLabel)];
  if (metric.kind !== 'histogram') LABELS.set(name, labels);
  else for (const series of ['_bucket', '_count', '_sum']) LABELS.set(name + series, [...labels, 'le']);
}

/** The series and labels of a query that do not exist. */
function unknownIn(query: string): string[] {
  const grouped = all(query, /\bby \(([^)]*)\)/g).flatMap((labels) => labels.split(/,\s*/));
  const bare = query.replaceAll(/"[^"]*"|\bby \([^)]*\)|\[\w+\]/g, '');
  const selectors = [...bare.matchAll(/\b([a-z][\w:]*)(?![\w:]|\s*\()(?:\{([^}]*)\})?/g)];
  const known = selectors.flatMap(([, name = '']) => LABELS.get(name) ?? []);
  return [
    ...selectors.flatMap(([, name = '', labels = '']) => {
      const of = LABELS.get(name);
      return of ? all(labels, /(\w+)\s*[=!]/g).filter((label) => !of.includes(label)) : [name];
    }),
    ...grouped.filter((label) => !known.includes(label)),
  ];
}

/** A path with its parameters, or the placeholders in capitals for them, replaced by `*`. */
const shape = (path: string): string => path.replaceAll(/:\w+|\b[A-Z]{2,}\b/g, '*');
const PATHS = new Set(Object.values(routes).map(({ path }) => shape(path)));

const SCRIPTS = new Set(Object.keys((JSON.parse(read('package.json')) as { scripts: object }).scripts));

/** The sources of all processes, which contain the texts of their log lines. */
const SOURCES = ['apps', 'libs']
  .flatMap((dir) =>
    readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })
      .filter((name) => /^[\w-]+\/src\/.*(?<!\.spec|\.int)\.ts$/.test(name) && !name.includes('/generated/'))
      .map((name) => read(join(dir, name))),
  )
  .join('\n');

const SETTINGS = read('docs/settings.md') + read('deploy/runbooks/README.md');

describe.each(pages)('the runbook %s', (_name, text) => {
  it('queries only existing series, by existing labels', () => {
    for (const query of all(text, /\bask '([^']+)'/g)) expect([query, unknownIn(query)]).toEqual([query, []]);
    for (const name of all(text, /`((?:svc|http|gen_ai|db)_\w+)`/g))
      expect([name, [...LABELS.keys()].some((series) => series.startsWith(name))]).toEqual([name, true]);
  });

  it('requests only existing routes', () => {
    const paths = all(text, /(?:OPERATOR"?|operator |\b(?:GET|PUT|POST) )['"]?(\/[\w/:-]+)/g);
    expect(paths.filter((path) => !PATHS.has(shape(path)))).toEqual([]);
  });

  it('uses only existing scripts and settings', () => {
    expect(all(text, /npm run ([\w:-]+)/g).filter((script) => !SCRIPTS.has(script))).toEqual([]);
    const settings = all(
      text,
      /\b((?:SVC|LEDGER|LIMITER|GATEWAY|ROUTER|RETRIEVAL|X402|KAFKA|DATABASE|REDIS)_[A-Z_]+)\b/g,
    );
    expect(settings.filter((name) => !SETTINGS.includes(name))).toEqual([]);
  });

  it('searches the logs only for texts that are logged', () => {
    const words = all(text, /grep -h '([^']+)'/g).flatMap((pattern) => pattern.split(String.raw`\|`));
    const logged = (word: string): boolean => {
      const [, member, value] = /^"(\w+)":"?(\w+)/.exec(word) ?? [];
      return member === undefined
        ? SOURCES.includes(word)
        : SOURCES.includes(member) && (/^\d/.test(value ?? '') || SOURCES.includes(value ?? ''));
    };
    expect(words.filter((word) => !logged(word))).toEqual([]);
  });

  it('links only to existing pages', () => {
    const names = new Set(pages.map(([name]) => name));
    const links = all(text, /\]\((?!https?:)([\w-]+\.md)\)/g);
    expect(links.filter((link) => !names.has(link))).toEqual([]);
  });
});

describe('docs/on-call.md', () => {
  const text = read('docs/on-call.md');
  const boards = readdirSync(join(root, `${FILES}/dashboards`)).map((name) =>
    read(`${FILES}/dashboards/${name}`),
  );
  // Some are about Kubernetes, and so only in the chart.
  const rules =
    read(`${FILES}/alerts/svc.rules.yml`) + read('deploy/charts/platform/templates/monitoring.yaml');

  it('names only alerts, panels, series and limits that exist', () => {
    const alerts = all(text, /`([A-Z][a-z]+[A-Z]\w+)`/g);
    expect(alerts.length).toBeGreaterThan(20);
    expect(alerts.filter((name) => !rules.includes(`alert: ${name}\n`))).toEqual([]);
    const panels = all(text, /\*([^*\n]+)\*(?!\*)/g);
    expect(panels.length).toBeGreaterThan(4);
    const titles = boards.flatMap((board) => all(board, /"title": "((?:[^"\\]|\\.)*)"/g));
    expect(panels.filter((name) => !titles.some((title) => title.startsWith(name)))).toEqual([]);
    for (const query of all(text, /\bask '([^']+)'/g)) expect([query, unknownIn(query)]).toEqual([query, []]);
    const series = all(text, /`((?:svc|http|gen_ai|db)[:_][\w:]+)`/g);
    expect(series.filter((name) => ![...LABELS.keys()].some((known) => known.startsWith(name)))).toEqual([]);
    expect(all(text, /`([A-Z]+_[A-Z]+)` in/g).filter((type) => !SOURCES.includes(`'${type}'`))).toEqual([]);
  });

  it('links to sections that exist', () => {
    const slug = (title: string): string =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\s-]/g, '')
        .trim()
        .replaceAll(' ', '-');
    const links = Array.from(text.matchAll(/\]\(([\w./-]+\.md)#([\w-]+)\)/g));
    expect(links.length).toBeGreaterThan(4);
    for (const [, path = '', section] of links) {
      const titles = all(read(join('docs', path)), /^#+ (.+)$/gm);
      expect([path, section, titles.some((title) => slug(title) === section)]).toEqual([path, section, true]);
    }
  });
});

describe('the Kafka commands', () => {
  const [, functions = ''] =
    /^## Commands of Kafka$[^]*?```sh\n([^]*?)```/m.exec(read('deploy/runbooks/README.md')) ?? [];

  /** The command that `kafka topics --describe` would run, with its properties. */
  function commandWith(env: Readonly<Record<string, string>>): string[] {
    const folder = mkdtempSync(join(tmpdir(), 'svc-kafka-'));
    try {
      const script = '#!/bin/sh\necho "$@"\ncat "$4"\n';
      writeFileSync(join(folder, 'kafka-topics.sh'), script, { mode: 0o755 });
      const run = { env: { ...env, PATH: `${folder}:${process.env['PATH']}` }, encoding: 'utf8' } as const;
      return execFileSync('sh', ['-c', `${functions}\nkafka topics --describe`], run)
        .trim()
        .split('\n');
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  const KAFKA_BROKERS = 'kafka:9092';
  const args = `--bootstrap-server ${KAFKA_BROKERS} --command-config /dev/stdin --describe`;

  it('need neither a user nor TLS', () => {
    expect(commandWith({ KAFKA_BROKERS })).toEqual([args, 'security.protocol=PLAINTEXT']);
  });

  it('use the user and the TLS of the deployment, and keep the password out of their arguments', () => {
    const user = { KAFKA_USERNAME: 'svc', KAFKA_PASSWORD: 'secret' };
    const tls = { KAFKA_TLS: 'true', KAFKA_CA_FILE: '/etc/svc/kafka/ca.crt' };
    const login = (module: string): string =>
      `sasl.jaas.config=org.apache.kafka.common.security.${module}LoginModule required username="svc" password="secret";`;
    expect(commandWith({ KAFKA_BROKERS, ...user, KAFKA_SASL: 'plain' })).toEqual([
      args,
      'security.protocol=SASL_PLAINTEXT',
      'sasl.mechanism=PLAIN',
      login('plain.Plain'),
    ]);
    expect(commandWith({ KAFKA_BROKERS, ...user, ...tls })).toEqual([
      args,
      'ssl.truststore.type=PEM',
      'ssl.truststore.location=/etc/svc/kafka/ca.crt',
      'security.protocol=SASL_SSL',
      'sasl.mechanism=SCRAM-SHA-512',
      login('scram.Scram'),
    ]);
  });

  it('use tokens as the deployment does, from its endpoint or its file', () => {
    const oauth = 'org.apache.kafka.common.security.oauthbearer';
    const login = (client: string): string =>
      `sasl.jaas.config=${oauth}.OAuthBearerLoginModule required ${client};`;
    const user = { KAFKA_USERNAME: 'svc', KAFKA_PASSWORD: 'secret', KAFKA_OAUTH_SCOPE: 'kafka' };
    const source = { KAFKA_OAUTH_TOKEN_URL: 'https://issuer/token' };
    const common = { KAFKA_BROKERS, KAFKA_SASL: 'oauthbearer' };
    const lines = (url: string): string[] => [
      args,
      'security.protocol=SASL_PLAINTEXT',
      'sasl.mechanism=OAUTHBEARER',
      `sasl.oauthbearer.token.endpoint.url=${url}`,
      `sasl.login.callback.handler.class=${oauth}.OAuthBearerLoginCallbackHandler`,
    ];
    expect(commandWith({ ...common, ...user, ...source })).toEqual([
      ...lines('https://issuer/token'),
      login('clientId="svc" clientSecret="secret" scope="kafka"'),
    ]);
    expect(commandWith({ ...common, KAFKA_OAUTH_TOKEN_FILE: '/token' })).toEqual([
      ...lines('file:///token'),
      login('clientId="" clientSecret="" scope=""'),
    ]);
  });

  it('use the certificate of the deployment, and keep its key out of their arguments', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-kafka-'));
    const [cert, key] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
    writeFileSync(cert, 'BEGIN\nabc=\nEND\n');
    writeFileSync(key, 'BEGIN\nsecret\nEND\n');
    const env = { KAFKA_BROKERS, KAFKA_TLS: 'true', KAFKA_CERT_FILE: cert, KAFKA_KEY_FILE: key };
    expect(commandWith(env)).toEqual([
      args,
      'ssl.keystore.type=PEM',
      // Java reads `\n` as a line break.
      String.raw`ssl.keystore.certificate.chain=BEGIN\nabc=\nEND\n`,
      String.raw`ssl.keystore.key=BEGIN\nsecret\nEND\n`,
      'security.protocol=SSL',
    ]);
    rmSync(folder, { recursive: true });
  });
});
