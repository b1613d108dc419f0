export { EditPictures } from './edit-pictures.js';
export { ImageMaker } from './image-maker.js';
export { ImageSales } from './image-sales.js';
export { ImagesController } from './images.controller.js';
