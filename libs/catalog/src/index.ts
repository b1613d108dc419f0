export {
  Catalog,
  type EmbeddingModel,
  type Model,
  type Rates,
  type SpeechModel,
  type TranscriptionModel,
} from './catalog.js';
export { readCatalog } from './catalog-file.js';
export { CatalogModule } from './catalog.module.js';
export { Characters } from './characters.js';
export { CharactersModule } from './characters.module.js';
export { checkFile } from './check.js';
export { keyNames } from './refusal.js';
export { type LocalServer, offerLocalModels } from './local-models.js';
export type { NamedModels } from './named-models.js';
export type { FileChange, OperatorFile } from './operator-file.js';
export { type LastGood, LastGoodFolder, LastGoodOfGateways } from './last-good.js';
export {
  catalogConfig,
  charactersConfig,
  gatewayUrl,
  openCatalog,
  openCharacters,
  priceFactor,
} from './open.js';
export { type Added, addModels } from './providers/new-entries.js';
export { PROVIDER_FORMS, type ProviderForm, isListedKind } from './providers/provider-forms.js';
