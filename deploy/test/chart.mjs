// The chart, rendered by Helm.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { tool } from './tools.mjs';

export const CHART = fileURLToPath(new URL('../charts/platform', import.meta.url));

/** The chart with PostgreSQL and Kafka. */
export const DATA = fileURLToPath(new URL('../charts/data', import.meta.url));

/** The settings of each process that the chart knows. */
export const SETTINGS = JSON.parse(readFileSync(`${CHART}/files/settings.json`, 'utf8'));

/** The six services. */
export const SERVICES = [
  'api-gateway',
  'inference-router',
  'billing-ledger',
  'rate-limiter',
  'retrieval-worker',
  'x402-payments',
];

/** The minimum values of a trial of all services, on servers that run elsewhere. */
export const EXTERNAL = {
  simulator: { enabled: true },
  tokens: { existingSecret: 'tokens' },
  postgres: { existingSecret: { name: 'postgres' } },
  redis: { existingSecret: { name: 'redis' } },
  kafka: { brokers: 'kafka-0:9092,kafka-1:9093' },
};

/** The single process instead of all others. */
export const ALL = {
  services: {
    ...Object.fromEntries(SERVICES.map((name) => [name, { enabled: false }])),
    all: { enabled: true },
  },
};

/** The text that Helm renders from values. */
export const renderText = (values, { chart = CHART, name = 'svc', namespace = 'platform' } = {}) =>
  tool('helm', ['template', name, chart, '--namespace', namespace, '--values', '-'], JSON.stringify(values));

/** A release: its objects by kind and name. */
export class Release {
  constructor(objects) {
    this.objects = objects;
  }

  static async of(values = EXTERNAL, of = {}) {
    const documents = parseAllDocuments(await renderText(values, of), { logLevel: 'error' });
    for (const { errors } of documents) if (errors.length > 0) throw errors[0];
    return new Release(documents.map((document) => document.toJS()).filter((object) => object !== null));
  }

  all(kind) {
    return this.objects.filter((object) => object.kind === kind);
  }

  find(kind, name) {
    return this.all(kind).find(({ metadata }) => metadata.name === `svc-${name}`);
  }

  get(kind, name) {
    const found = this.find(kind, name);
    if (!found) throw new Error(`there is no ${kind} svc-${name}`);
    return found;
  }

  /** All workloads, with their pods. */
  pods() {
    return this.objects.flatMap(({ kind, metadata, spec }) => {
      const name = metadata.name.replace('svc-', '');
      if (kind === 'Pod') return [{ kind, name, metadata, spec }];
      return spec?.template?.spec ? [{ kind, name, ...spec.template }] : [];
    });
  }

  pod(name) {
    return this.pods().find((pod) => pod.name === name);
  }

  /** The environment of a pod's process, with a placeholder for each secret. */
  environment(name, secrets = {}) {
    const [{ env = [] }] = this.pod(name).spec.containers;
    return Object.fromEntries(
      env.map(({ name: variable, value }) => [variable, value ?? secrets[variable] ?? 'x'.repeat(64)]),
    );
  }
}
