export { BackgroundWork } from './background-work.js';
export { chooseEncoding, encode } from './content-encoding.js';
export { isCsvFile } from './csv-file.js';
export { type HeaderValues, limitHeaders, modelHeaders, servedBy } from './header-values.js';
export type { Repeat } from './repeat.js';
export { PublishedText } from './published-text.js';
export { KEEP_ALIVE_FRAME, ResponseWriter } from './response-writer.js';
