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
  TextModelView,
  TranscriptionModelView,
} from './models.js';
