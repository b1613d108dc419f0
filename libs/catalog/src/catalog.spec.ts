import { CatalogFile } from '@svc/contracts/catalog';
import { describe, expect, it } from 'vitest';
import { Catalog } from './catalog.js';

const NODE = { url: 'http://node.test' };

/** A catalogue with one model, `m`, and networks of these names. */
function catalogWith(...networks: readonly string[]): Catalog {
  const model = {
    id: 'm',
    name: 'm',
    contextTokens: 1_000,
    maxCompletionTokens: 100,
    pricing: { input: 1, output: 1 },
    backends: [{ url: 'http://server.test/v1', model: 'x' }],
  };
  return new Catalog(
    CatalogFile.parse({
      models: [model],
      tiers: { L: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } },
      cryptoRpc: {
        networks: Object.fromEntries(networks.map((name) => [name, { family: 'evm', nodes: [NODE] }])),
      },
    }),
  );
}

describe('the nodes of a blockchain network', () => {
  it('are found by the name of the network, even if a model has the same', () => {
    const catalog = catalogWith('base', 'm');
    expect(catalog.nodesOf('base')).toMatchObject([NODE]);
    expect(catalog.nodesOf('m')).toMatchObject([NODE]);
    expect(catalog.backendsOf('m')).toMatchObject([{ url: 'http://server.test/v1' }]);
    expect([...catalog.nodesByNetwork.keys()]).toEqual(['base', 'm']);
  });

  it('are the backends of no model, under whatever name', () => {
    const catalog = catalogWith('base');
    for (const name of ['base', '#crypto-rpc-base']) {
      expect(catalog.backendsOf(name)).toEqual([]);
      expect(catalog.find(name)).toBeUndefined();
    }
    expect([...catalog.backendsByModel.keys()]).toEqual(['m']);
    expect(catalog.nodesOf('m')).toEqual([]);
  });

  it('keep their connections, as all backends do, while the catalogue has them', () => {
    expect(
      catalogWith('base')
        .backends()
        .map(({ url }) => url),
    ).toEqual(['http://server.test/v1', 'http://node.test']);
  });
});
