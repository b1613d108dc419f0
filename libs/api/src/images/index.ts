export {
  IMAGE_DEFAULTS,
  ImageCutoutRequest,
  ImageEditRequest,
  ImageEditsRequest,
  ImageGenerationReply,
  ImageGenerationRequest,
  ImageMultiEditRequest,
  ImageReply,
  ImageRequest,
  ImageStyleList,
  ImageUpscaleRequest,
} from './images.js';
