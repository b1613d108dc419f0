// Model servers in enclaves: docs/e2ee.md as an operator follows it, with the chart.
import { readFileSync } from 'node:fs';
import { CatalogFile } from '@svc/contracts/catalog';
import { loadConfig } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { settingsOf } from '../../tools/processes.mjs';
import { EXTERNAL, Release } from './chart.mjs';

const PAGE = readFileSync(new URL('../../docs/e2ee.md', import.meta.url), 'utf8');
const [MODEL = '', VALUES = ''] = Array.from(PAGE.matchAll(/```yaml\n([^]*?)```/g), ([, text]) => text);

const MEASUREMENT = 'ab'.repeat(48);

const catalog = {
  models: [
    {
      id: 'e2ee-llama',
      name: 'Llama in an enclave',
      tier: 'XS',
      contextTokens: 8_192,
      maxCompletionTokens: 1_024,
      pricing: { input: 0.1, output: 0.2 },
      ...parse(MODEL.replaceAll('96 hex digits', MEASUREMENT)),
    },
  ],
  tiers: { XS: { standard: { requestsPerMinute: 10, tokensPerMinute: 10_000 } } },
};

const release = await Release.of({
  ...EXTERNAL,
  simulator: {},
  ...parse(VALUES),
  catalog: { content: stringify(catalog) },
});

describe('a model in an enclave, as the documentation describes it', () => {
  it('is in the catalogue of the router and the gateway, with its measurements', () => {
    const { data } = release.get('ConfigMap', 'catalog');
    const { models } = CatalogFile.parse(parse(data['catalog.yaml']));
    const [{ kind, apiKeyEnv, tee }] = models[0].backends;
    expect({ kind, apiKeyEnv, tee }).toEqual({
      kind: 'vllm-proxy',
      apiKeyEnv: 'ENCLAVE_KEY',
      tee: { accept: 'hardware', measurements: [{ mrtd: MEASUREMENT, rtmr3: MEASUREMENT }] },
    });
    for (const name of ['api-gateway', 'inference-router']) {
      const volume = release.pod(name).spec.volumes.find((one) => one.name === 'catalog');
      expect(volume.configMap.name).toBe('svc-catalog');
    }
  });

  it('has its API key in the router only', () => {
    const secrets = release
      .pods()
      .flatMap(({ name, spec }) =>
        (spec.volumes ?? []).flatMap(({ secret }) => (secret ? [[name, secret.secretName]] : [])),
      );
    expect(secrets).toEqual([['inference-router', parse(VALUES).backends.existingSecret]]);
  });

  it('can be reached from the router only', () => {
    const [peer] = parse(VALUES).backends.peers;
    const reaching = release
      .all('NetworkPolicy')
      .filter(({ spec }) =>
        (spec.egress ?? []).some(({ to = [] }) => JSON.stringify(to).includes(peer.ipBlock.cidr)),
      )
      .map(({ metadata }) => metadata.name);
    expect(reaching).toEqual(['svc-inference-router']);
  });

  it('has the timeouts of the values, in the router and in the gateway, and no simulator beside it', async () => {
    for (const name of ['api-gateway', 'inference-router']) {
      const { ROUTER_FIRST_CHUNK_TIMEOUT_MS: timeoutMs } = release.environment(name);
      const settings = await settingsOf(name);
      const only = { ROUTER_FIRST_CHUNK_TIMEOUT_MS: settings.ROUTER_FIRST_CHUNK_TIMEOUT_MS };
      expect(loadConfig(only, { ROUTER_FIRST_CHUNK_TIMEOUT_MS: timeoutMs })).toEqual({
        ROUTER_FIRST_CHUNK_TIMEOUT_MS: 300_000,
      });
    }
    expect(release.find('Deployment', 'model-simulator')).toBeUndefined();
  });
});
