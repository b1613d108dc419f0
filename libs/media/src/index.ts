export type { AudioLength } from './audio/audio-length.js';
export { AudioLengths, AudioRejected } from './audio-lengths.js';
export { base64Bytes, dataUrl, dataUrlBytes, dataUrlHead, type DataUrlHead } from './data-url.js';
export { imageFormat } from './image-format.js';
export type { ImageOutput, ReadImage } from './image-job.js';
export { type ImagesConfig, imagesConfig } from './images.config.js';
export { ImagesModule } from './images.module.js';
export { type ConvertedImage, type ImageCopy, ImageRejected, Images } from './images.js';
