export { AnthropicModel, AnthropicModelList } from './anthropic-models.js';
export {
  ConstraintsView,
  DeprecationView,
  EmbeddingModelView,
  ImageModelView,
  ModelList,
  ModelNames,
  ModelQuery,
  ModelSpec,
  ModelView,
  OtherModelSpec,
  OtherModelView,
  PricingView,
  SpeechModelView,
  MusicModelView,
  TextModelView,
  TranscriptionModelView,
} from './models.js';
