export type { AudioFile } from './audio/audio-file.js';
export { AudioFiles, AudioRejected } from './audio-files.js';
export { base64Bytes, dataUrl, dataUrlBytes, dataUrlHead, type DataUrlHead } from './data-url.js';
export { imageFormat } from './image-format.js';
export type { ImageOutput, ReadImage } from './image-job.js';
export { type ImagesConfig, imagesConfig } from './images.config.js';
export { ImagesModule } from './images.module.js';
export { type ConvertedImage, type ImageCopy, ImageRejected, Images } from './images.js';
