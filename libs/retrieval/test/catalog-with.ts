import { Catalog } from '@svc/catalog';
import { CatalogFile } from '@svc/contracts/catalog';

const model = {
  id: 'm',
  name: 'M',
  tier: 'XS',
  contextTokens: 1,
  maxCompletionTokens: 1,
  pricing: { input: 0, output: 0 },
};
const tiers = { XS: { standard: { requestsPerMinute: 1, tokensPerMinute: 1 } } };

/** A catalogue with these search settings. */
export const catalogWith = (search: object | undefined): Catalog =>
  new Catalog(CatalogFile.parse({ models: [model], tiers, ...(search && { search }) }));
