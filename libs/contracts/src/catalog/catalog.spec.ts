import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CatalogFile, CatalogModel } from './catalog.js';

const modelWith = (reasoning: string): unknown =>
  parse(`
id: thinker
name: Thinker
type: text
contextTokens: 4096
maxCompletionTokens: 512
pricing: { input: 1, output: 2 }
reasoning: { ${reasoning}: { suffix: /no_think } }
`);

describe('the catalogue', () => {
  it('accepts backend names only if they are unique, including default names', () => {
    const model = modelWith('off') as object;
    const backends = (...names: (string | undefined)[]): object[] =>
      names.map((name) => ({
        ...(name !== undefined && { name }),
        url: 'http://127.0.0.1:1/v1',
        model: 'm',
      }));
    const isTaken = (...names: (string | undefined)[]): boolean =>
      CatalogModel.safeParse({ ...model, backends: backends(...names) }).success;
    expect(isTaken(undefined, 'vllm-a', 'vllm-b')).toBe(true);
    expect(isTaken('same', 'same')).toBe(false);
    expect(isTaken('backend-2', undefined)).toBe(false);
    expect(isTaken('10.0.0.1:8000')).toBe(false);
  });

  it('accepts a name twice only as an alias of an image and an inpaint model', () => {
    const image = { type: 'image', tier: 'XS', name: 'A', pricing: { generation: 0.01 } };
    const inpaint = { type: 'inpaint', tier: 'XS', name: 'B', pricing: { inpaint: 0.01 } };
    const faultOf = (...models: object[]): string | undefined =>
      CatalogFile.safeParse({
        models,
        tiers: { XS: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } },
      }).error?.issues[0]?.message;
    const aliases = ['shared'];
    expect(faultOf({ ...image, id: 'a', aliases }, { ...inpaint, id: 'b', aliases })).toBeUndefined();
    expect(faultOf({ ...image, id: 'a', aliases }, { ...image, id: 'b', aliases })).toContain('shared');
    expect(faultOf({ ...image, id: 'shared' }, { ...inpaint, id: 'b', aliases })).toContain('shared');
    expect(faultOf({ ...inpaint, id: 'a', aliases }, { ...image, id: 'SHARED' })).toContain('shared');
  });

  it('lets no client choose its salt at a backend that separates accounts by their salts', () => {
    const faultsOf = (more: object): string[] => {
      const backends = [{ url: 'http://127.0.0.1:1/v1', model: 'm', cacheSaltEnv: 'SALT' }];
      const read = CatalogModel.safeParse({ ...(modelWith('off') as object), backends, ...more });
      return read.error?.issues.map(({ path }) => path.join('.')) ?? [];
    };
    expect(faultsOf({ extraFields: ['priority'] })).toEqual([]);
    expect(faultsOf({ extraFields: ['cache_salt'] })).toEqual(['extraFields']);
    expect(faultsOf({ extraFields: ['cache_salt'], backends: [] })).toEqual([]);
    expect(faultsOf({ extraFields: ['a b'] })).toEqual(['extraFields.0']);
  });

  describe('with enclaves', () => {
    const tee = { accept: 'simulated' };
    const faultsOf = (capabilities: object, ...backends: object[]): string[] => {
      const given = backends.map((backend) => ({ url: 'http://127.0.0.1:1/v1', model: 'm', ...backend }));
      const read = CatalogModel.safeParse({ ...(modelWith('off') as object), capabilities, backends: given });
      return read.error?.issues.map(({ path }) => path.join('.')) ?? [];
    };
    const encrypted = { supportsE2EE: true, supportsTeeAttestation: true };

    it('refuses a model that supports encryption and has a backend without an enclave', () => {
      const enclave = { kind: 'vllm-proxy', tee: {} };
      expect(faultsOf(encrypted, enclave, { kind: 'simulator', tee })).toEqual([]);
      expect(faultsOf(encrypted, enclave, {})).toEqual(['backends.1.tee']);
      expect(faultsOf({ supportsTeeAttestation: true }, { kind: 'simulator' })).toEqual(['backends.0.tee']);
      expect(faultsOf({ supportsE2EE: true }, enclave)).toEqual(['capabilities.supportsE2EE']);
    });

    it('refuses demands of an enclave that a kind of backend does not have, or leaves open', () => {
      expect(faultsOf({}, { tee })).toEqual(['backends.0.tee']);
      expect(faultsOf({}, { kind: 'vllm-proxy' })).toEqual(['backends.0.tee']);
      const measured = { kind: 'vllm-proxy', tee: { measurements: [{ mrtd: 'ab' }] } };
      expect(faultsOf({}, measured)).toEqual(['backends.0.tee.measurements.0.mrtd']);
    });
  });

  it.each(['off', '"off"', 'false'])(
    'accepts the key %s alike, whichever YAML version its writer uses',
    (key) => {
      expect(CatalogModel.parse(modelWith(key))).toMatchObject({
        reasoning: { off: { suffix: '/no_think' } },
      });
    },
  );
});
