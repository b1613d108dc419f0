export {
  MediaComplete,
  MediaProgress,
  MediaRetrieve,
  MusicOrder,
  MusicQuote,
  VideoOrder,
  VideoQuote,
} from './media-jobs.js';
