export {
  AUDIO_MEDIA_TYPES,
  type AudioFileFormat,
  SPEECH_FORMATS,
  SPEECH_MEDIA_TYPES,
  type SpeechFormat,
  VOICE_CHARACTERS,
} from './audio-models.js';
export { Backend, haveChoice } from './backend.js';
export { COUNTING_KINDS } from './backend-kinds.js';
export {
  Capabilities,
  CatalogEditModel,
  CatalogEmbeddingModel,
  CatalogModerationModel,
  CatalogRerankModel,
  CatalogEntry,
  CatalogFile,
  CatalogImageModel,
  CatalogModel,
  CatalogMusicModel,
  CatalogSpeechModel,
  CatalogTranscriptionModel,
  CatalogUpscaleModel,
  CatalogVideoModel,
  EXTRAS,
  type Extra,
  MODEL_TYPES,
  type OtherLimit,
  type PriceTree,
  type TokenizerName,
} from './catalog.js';
export { Deprecation } from './deprecation.js';
export {
  IMAGE_PROMPT_CHARS,
  IMAGE_QUALITIES,
  IMAGE_RESOLUTIONS,
  type ImageResolution,
  IMAGES_AT_MOST,
  type ImageTier,
  imageUsd,
  INPUT_IMAGES_AT_MOST,
} from './image-models.js';
export { CryptoRpc, GENESIS_HASH, type RpcFamily, type RpcNetwork } from './rpc-networks.js';
export { Scraping, Search, SearchProvider } from './search.js';
export { BANDS, type Band, tieredNano } from './price-tiers.js';
export { TeeBackend } from './tee-backends.js';
export { musicPrice, secondsOf, VIDEO_INPUTS, type VideoInput, videoPrice } from './video-models.js';
export { slotIn, type WorkflowSlot } from './workflow.js';
export { Guard, MODERATION_CATEGORIES } from './moderation-models.js';
