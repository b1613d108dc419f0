export {
  Catalog,
  type EmbeddingModel,
  type Model,
  type Rates,
  type SpeechModel,
  type TranscriptionModel,
  readCatalog,
  rpcModel,
} from './catalog.js';
export { CatalogModule } from './catalog.module.js';
export { Characters, readCharacters } from './characters.js';
export { CharactersModule } from './characters.module.js';
export { type LocalServer, offerLocalModels } from './local-models.js';
export type { NamedModels } from './named-models.js';
export { catalogConfig, charactersConfig, openCatalog, openCharacters } from './open.js';
